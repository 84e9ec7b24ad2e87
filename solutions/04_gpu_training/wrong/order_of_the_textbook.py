"""Fails blocked-order-check: ignores the blocks."""


def blocked_order(n, block):
    return [(i, j, k) for i in range(n) for j in range(n) for k in range(n)]
