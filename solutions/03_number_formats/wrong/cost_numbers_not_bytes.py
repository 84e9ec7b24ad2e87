"""Fails matmul-cost-check: counts numbers, not bytes."""


def matmul_cost(n, k, m, number):
    _, multiply, add = number
    moved = n * k + k * m + n * m
    return moved, moved * DRAM + n * k * m * (multiply + add)
