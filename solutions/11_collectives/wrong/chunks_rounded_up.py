"""Fails chunk-bounds-check, ring-reduce-scatter-check, ring-allreduce-check, parameter-server-check: every chunk is rounded up, so that the last one is too short."""


def chunk_bounds(n, size):
    length = -(-n // size)
    return [(min(r * length, n), min((r + 1) * length, n)) for r in range(size)]
