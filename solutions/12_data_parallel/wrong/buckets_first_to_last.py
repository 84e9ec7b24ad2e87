"""Fails buckets-check: fills from the first parameter on, whose gradients come last."""


def buckets(sizes, limit):
    found, held = [], limit + 1
    for number, size in enumerate(sizes):
        if not found or held + size > limit:
            found.append([])
            held = 0
        found[-1].append(number)
        held += size
    return found
