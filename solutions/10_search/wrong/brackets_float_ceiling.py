"""Fails brackets-check: rounds up floats, which are too short."""


def brackets(most, eta=3):
    s_max = max(k for k in range(most.bit_length()) if eta**k <= most)
    return [
        (math.ceil((s_max + 1) / (s + 1) * eta**s), most // eta**s)
        for s in range(s_max, -1, -1)
    ]
