"""Fails matmul-cost-check: every operand is read again for each term."""


def matmul_cost(n, k, m, number):
    size, multiply, add = number
    moved = size * (2 * n * k * m + n * m)
    return moved, moved * DRAM + n * k * m * (multiply + add)
