"""Fails chunk-bounds-check, ring-reduce-scatter-check, ring-allreduce-check, parameter-server-check: the bounds are floats, which cut no array."""


def chunk_bounds(n, size):
    length, longer = n // size, n % size
    starts = [float(r * length + min(r, longer)) for r in range(size + 1)]
    return list(zip(starts, starts[1:]))
