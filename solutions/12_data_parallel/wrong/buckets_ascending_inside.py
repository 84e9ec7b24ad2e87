"""Fails buckets-check: orders the numbers within a bucket upwards."""


def buckets(sizes, limit):
    found, held = [], 0
    for number in reversed(range(len(sizes))):
        if not found or held + sizes[number] > limit:
            found.append([])
            held = 0
        found[-1].insert(0, number)
        held += sizes[number]
    return found
