"""Fails matmul-cost-check: the result is written in four bytes."""


def matmul_cost(n, k, m, number):
    size, multiply, add = number
    moved = size * (n * k + k * m) + 4 * n * m
    return moved, moved * DRAM + n * k * m * (multiply + add)
