"""Fails buckets-check, ddp-check: reads the limit as a number of parameters."""


def buckets(sizes, limit):
    order = list(reversed(range(len(sizes))))
    return [
        order[k : k + max(1, limit)]
        for k in range(0, len(order), max(1, limit))
    ]
