"""Fails systolic-check: leaves out tiles that are not full."""


def systolic_cycles(m, k, n, d):
    return (k // d) * (n // d) * (m + 3 * d - 2)
