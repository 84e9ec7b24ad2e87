"""Fails costs-check: a size that is no power of two costs one step more, not two."""


def allreduce_seconds(scheme, size, m, alpha, beta):
    share = (size - 1) / size
    costs = {
        "ring": 2 * (size - 1) * alpha + 2 * share * m * beta,
        "doubling": math.ceil(math.log2(size)) * (alpha + m * beta),
        "halving": 2 * math.log2(size) * alpha + 2 * share * m * beta,
        "server": 2 * alpha + 2 * size * m * beta,
        "sharded": 2 * alpha + 2 * m * beta,
    }
    if scheme not in costs:
        raise ValueError(scheme)
    return costs[scheme] if size > 1 else 0.0
