"""Fails brackets-check: rounds the logarithm up as well."""


def brackets(most, eta=3):
    s_max = round(math.log(most) / math.log(eta))
    return [
        (-(-(s_max + 1) * eta**s // (s + 1)), most // eta**s)
        for s in range(s_max, -1, -1)
    ]
