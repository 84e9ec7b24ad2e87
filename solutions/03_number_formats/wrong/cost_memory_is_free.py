"""Fails matmul-cost-check: only arithmetic costs energy."""


def matmul_cost(n, k, m, number):
    size, multiply, add = number
    moved = size * (n * k + k * m + n * m)
    return moved, n * k * m * (multiply + add)
