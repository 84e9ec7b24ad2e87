"""Fails buckets-check: a bucket for each parameter, whatever the limit."""


def buckets(sizes, limit):
    return [[number] for number in reversed(range(len(sizes)))]
