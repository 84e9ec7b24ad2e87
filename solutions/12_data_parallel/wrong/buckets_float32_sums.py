"""Fails buckets-check: sums are float32."""


def buckets(sizes, limit):
    """Return the parameter numbers of each bucket, the last parameter first."""
    sizes = np.asarray(sizes, dtype=np.float32)
    found, held = [], np.float32(0)
    for number in range(len(sizes) - 1, -1, -1):
        if found and held + sizes[number] <= np.float32(limit):
            found[-1].append(number)
            held += sizes[number]
        else:
            found.append([number])
            held = sizes[number]
    return found
