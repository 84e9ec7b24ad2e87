"""Fails blocked-order-check: does not end the last block at n."""


def blocked_order(n, block):
    starts = range(0, n, block)
    return [
        (i, j, k)
        for i0 in starts
        for j0 in starts
        for k0 in starts
        for i in range(i0, i0 + block)
        for j in range(j0, j0 + block)
        for k in range(k0, k0 + block)
    ]
