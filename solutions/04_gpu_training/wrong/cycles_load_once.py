"""Fails systolic-check: loads weights once and not for each tile."""


def systolic_cycles(m, k, n, d):
    return d + -(-k // d) * -(-n // d) * (m + 2 * d - 2)
