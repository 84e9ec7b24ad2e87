"""Fails blocked-order-check: cuts i and j into blocks, and runs over all k in each."""


def blocked_order(n, block):
    order = []
    for i0 in range(0, n, block):
        for j0 in range(0, n, block):
            for i in range(i0, min(i0 + block, n)):
                for j in range(j0, min(j0 + block, n)):
                    order += [(i, j, k) for k in range(n)]
    return order
