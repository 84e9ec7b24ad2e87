"""Fails chunk-bounds-check, ring-reduce-scatter-check, ring-allreduce-check, parameter-server-check: all elements that are left over go into the last chunk."""


def chunk_bounds(n, size):
    length = n // size
    return [
        (r * length, n if r == size - 1 else (r + 1) * length)
        for r in range(size)
    ]
