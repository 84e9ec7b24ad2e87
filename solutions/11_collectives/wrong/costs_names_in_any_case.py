"""Fails costs-check: takes names with blanks and capitals."""


def allreduce_seconds(
    scheme: str, size: int, m: float, alpha: float, beta: float
) -> float:
    """Return modelled seconds of an all-reduce of m bytes over `size` ranks."""
    scheme = scheme.strip().lower()
    if scheme not in {"ring", "doubling", "halving", "server", "sharded"}:
        raise ValueError(scheme)
    if size == 1:
        return 0.0
    share = 2 * (size - 1) / size * m * beta
    if scheme == "ring":
        return 2 * (size - 1) * alpha + share
    if scheme == "doubling":
        k = size.bit_length() - 1
        return (k if size == 2**k else k + 2) * (alpha + m * beta)
    if scheme == "halving":
        return 2 * math.log2(size) * alpha + share
    return 2 * alpha + 2 * m * beta * (size if scheme == "server" else 1)


def best_size(
    compute_s: float, communication, sizes: list[int]
) -> tuple[int, float]:
    """Return the size with the shortest step, and its speed-up over size 1."""
    step, best = min((compute_s / p + communication(p), p) for p in sizes)
    return best, compute_s / step
