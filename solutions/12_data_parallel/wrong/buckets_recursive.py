"""Fails buckets-check: a call for each parameter."""


def buckets(sizes, limit):
    """Return the parameter numbers of each bucket, the last parameter first."""

    def go(number, done, bucket, held):
        if number < 0:
            return [*done, bucket] if bucket else done
        if bucket and held + sizes[number] > limit:
            return go(number - 1, [*done, bucket], [number], sizes[number])
        return go(number - 1, done, [*bucket, number], held + sizes[number])

    return go(len(sizes) - 1, [], [], 0)
