"""Fails brackets-check: a logarithm that is a little too small."""


def brackets(most, eta=3):
    s_max = int(math.log(most) / math.log(eta))
    return [
        (-(-(s_max + 1) * eta**s // (s + 1)), most // eta**s)
        for s in range(s_max, -1, -1)
    ]
