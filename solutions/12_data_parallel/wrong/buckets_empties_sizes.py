"""Fails buckets-check: takes the sizes out of the caller's list."""


def buckets(sizes, limit):
    found, held = [], limit + 1
    while sizes:
        size = sizes.pop()
        if held + size > limit:
            found.append([])
            held = 0
        found[-1].append(len(sizes))
        held += size
    return found
