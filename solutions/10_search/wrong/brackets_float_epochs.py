"""Fails brackets-check: fractions of epochs."""


def brackets(most, eta=3):
    s_max = max(k for k in range(most.bit_length()) if eta**k <= most)
    return [
        (-(-(s_max + 1) * eta**s // (s + 1)), most / eta**s)
        for s in range(s_max, -1, -1)
    ]
