"""Fails buckets-check: closes a bucket after it has gone over the limit."""


def buckets(sizes, limit):
    found, held = [], limit + 1
    for number in reversed(range(len(sizes))):
        if held > limit:
            found.append([])
            held = 0
        found[-1].append(number)
        held += sizes[number]
    return found
