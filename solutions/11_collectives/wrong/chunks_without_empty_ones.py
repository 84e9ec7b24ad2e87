"""Fails chunk-bounds-check, ring-reduce-scatter-check, ring-allreduce-check, parameter-server-check: empty chunks are left out."""


def chunk_bounds(n, size):
    length, longer = divmod(n, size)
    starts = [r * length + min(r, longer) for r in range(size + 1)]
    return [(a, b) for a, b in zip(starts[:-1], starts[1:]) if a < b]
