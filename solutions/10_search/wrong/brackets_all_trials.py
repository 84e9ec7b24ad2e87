"""Fails brackets-check: starts every bracket with as many as the boldest."""


def brackets(most, eta=3):
    s_max = max(k for k in range(most.bit_length()) if eta**k <= most)
    return [(eta**s, most // eta**s) for s in range(s_max, -1, -1)]
