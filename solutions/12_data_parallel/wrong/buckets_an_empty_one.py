"""Fails buckets-check, ddp-check: starts with an open bucket, which stays empty before a large parameter."""


def buckets(sizes, limit):
    found, held = [[]], 0
    for number in reversed(range(len(sizes))):
        if held + sizes[number] > limit:
            found.append([])
            held = 0
        found[-1].append(number)
        held += sizes[number]
    return found
