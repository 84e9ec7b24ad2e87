"""Fails brackets-check: eta is always three."""


def brackets(most, eta=3):
    s_max = max(k for k in range(most.bit_length()) if 3**k <= most)
    return [
        (-(-(s_max + 1) * 3**s // (s + 1)), most // 3**s)
        for s in range(s_max, -1, -1)
    ]
