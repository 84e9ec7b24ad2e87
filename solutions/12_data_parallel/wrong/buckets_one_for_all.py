"""Fails buckets-check, ddp-check: one bucket, whatever the limit."""


def buckets(sizes, limit):
    return [list(reversed(range(len(sizes))))] if sizes else []
