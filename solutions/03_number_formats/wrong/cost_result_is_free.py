"""Fails matmul-cost-check: the result is not written."""


def matmul_cost(n, k, m, number):
    size, multiply, add = number
    moved = size * (n * k + k * m)
    return moved, moved * DRAM + n * k * m * (multiply + add)
