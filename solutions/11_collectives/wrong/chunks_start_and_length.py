"""Fails chunk-bounds-check, ring-reduce-scatter-check, ring-allreduce-check, parameter-server-check: the second number is the length, not the end."""


def chunk_bounds(n, size):
    length, longer = divmod(n, size)
    return [
        (r * length + min(r, longer), length + (r < longer))
        for r in range(size)
    ]
