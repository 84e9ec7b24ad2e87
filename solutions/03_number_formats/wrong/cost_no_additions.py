"""Fails matmul-cost-check: additions cost nothing."""


def matmul_cost(n, k, m, number):
    size, multiply, _ = number
    moved = size * (n * k + k * m + n * m)
    return moved, moved * DRAM + n * k * m * (multiply)
