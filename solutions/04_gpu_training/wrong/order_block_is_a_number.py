"""Fails blocked-order-check: takes block to be the number of blocks."""


def blocked_order(n, block):
    size = -(-n // block)
    starts = range(0, n, size)
    return [
        (i, j, k)
        for i0 in starts
        for j0 in starts
        for k0 in starts
        for i in range(i0, min(i0 + size, n))
        for j in range(j0, min(j0 + size, n))
        for k in range(k0, min(k0 + size, n))
    ]
