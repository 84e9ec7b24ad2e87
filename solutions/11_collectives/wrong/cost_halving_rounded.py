"""Fails costs-check: the logarithm is rounded up."""


def allreduce_seconds(scheme, size, m, alpha, beta):
    floor, share = size.bit_length() - 1, (size - 1) / size
    costs = {
        "ring": 2 * (size - 1) * alpha + 2 * share * m * beta,
        "doubling": (floor + (0 if size == 1 << floor else 2))
        * (alpha + m * beta),
        "halving": 2 * math.ceil(math.log2(size)) * alpha
        + 2 * share * m * beta,
        "server": 2 * alpha + 2 * size * m * beta,
        "sharded": 2 * alpha + 2 * m * beta,
    }
    if scheme not in costs:
        raise ValueError(scheme)
    return costs[scheme] if size > 1 else 0.0
