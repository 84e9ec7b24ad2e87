"""Fails systolic-check: cuts the rows of a into tiles as well."""


def systolic_cycles(m, k, n, d):
    return -(-m // d) * -(-k // d) * -(-n // d) * (d + d + 2 * d - 2)
