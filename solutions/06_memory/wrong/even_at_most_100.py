"""Fails even-cuts-check: only up to 100 segments are tried: wrong for long chains, first at n = 10200."""


def even_cuts(n: int) -> list[int]:
    """Return the ends of the segments of n equal layers."""
    k = min(range(1, min(n, 100) + 1), key=lambda k: k - 1 + n // k)
    short, longer = divmod(n, k)
    return [s * short + min(s, longer) for s in range(1, k + 1)]
