"""Fails chunk-bounds-check, ring-reduce-scatter-check, ring-allreduce-check, parameter-server-check: the longer chunks come last."""


def chunk_bounds(n, size):
    return [(r * n // size, (r + 1) * n // size) for r in range(size)]
