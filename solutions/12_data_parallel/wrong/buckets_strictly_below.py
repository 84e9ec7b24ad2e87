"""Fails buckets-check: a bucket that is exactly full is taken for one too much."""


def buckets(sizes, limit):
    found, held = [], 0
    for number in reversed(range(len(sizes))):
        if not found or held + sizes[number] >= limit:
            found.append([])
            held = 0
        found[-1].append(number)
        held += sizes[number]
    return found
