"""Fails chunk-bounds-check, ring-allreduce-check, parameter-server-check: a generator, which can be gone through once and not indexed."""


def chunk_bounds(n, size):
    start = 0
    for r in range(size):
        stop = start + n // size + (r < n % size)
        yield start, stop
        start = stop
