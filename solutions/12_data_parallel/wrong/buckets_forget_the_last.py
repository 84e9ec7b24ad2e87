"""Fails buckets-check, ddp-check: the bucket that is open at the end is never handed out."""


def buckets(sizes, limit):
    found, bucket, held = [], [], 0
    for number in reversed(range(len(sizes))):
        if bucket and held + sizes[number] > limit:
            found.append(bucket)
            bucket, held = [], 0
        bucket.append(number)
        held += sizes[number]
    return found
