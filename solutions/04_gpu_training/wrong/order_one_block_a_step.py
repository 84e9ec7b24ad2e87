"""Fails blocked-order-check: swaps the loops: the blocks turn fastest."""


def blocked_order(n, block):
    inside = range(block)
    return [
        (i0 + i, j0 + j, k0 + k)
        for i in inside
        for j in inside
        for k in inside
        for i0 in range(0, n - i, block)
        for j0 in range(0, n - j, block)
        for k0 in range(0, n - k, block)
    ]
