"""Fails chunk-bounds-check: divides in floats, which cannot count beyond 2**53."""


def chunk_bounds(n: int, size: int) -> list[tuple[int, int]]:
    """Return (start, stop) of `size` chunks of n elements, the longer first."""
    short = int(n / size)
    longer = n - short * size
    bounds, start = [], 0
    for r in range(size):
        stop = start + short + (1 if r < longer else 0)
        bounds.append((start, stop))
        start = stop
    return bounds
