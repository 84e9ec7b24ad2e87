"""Fails buckets-check: puts a parameter back into an older bucket that still has room."""


def buckets(sizes, limit):
    found = []
    for number in reversed(range(len(sizes))):
        for bucket in found:
            if sum(sizes[i] for i in bucket) + sizes[number] <= limit:
                bucket.append(number)
                break
        else:
            found.append([number])
    return found
