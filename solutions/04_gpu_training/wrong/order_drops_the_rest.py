"""Fails blocked-order-check: leaves out what does not fill a block."""


def blocked_order(n, block):
    whole, inside = range(n // block), range(block)
    return [
        (i0 * block + i, j0 * block + j, k0 * block + k)
        for i0 in whole
        for j0 in whole
        for k0 in whole
        for i in inside
        for j in inside
        for k in inside
    ]
