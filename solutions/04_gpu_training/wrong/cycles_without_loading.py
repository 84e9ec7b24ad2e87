"""Fails systolic-check: forgets that weights must be loaded."""


def systolic_cycles(m, k, n, d):
    return -(-k // d) * -(-n // d) * (m + 2 * d - 2)
