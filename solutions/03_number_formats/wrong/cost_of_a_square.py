"""Fails matmul-cost-check: takes every side for n."""


def matmul_cost(n, k, m, number):
    size, multiply, add = number
    moved = size * (3 * n * n)
    return moved, moved * DRAM + n * k * m * (multiply + add)
