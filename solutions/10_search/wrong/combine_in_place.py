"""Fails ensemble-check: adds up in the first part."""


def combine(parts):
    total, first = parts[0]
    first *= total
    for m, p in parts[1:]:
        first += m * p
        total += m
    return first / total
