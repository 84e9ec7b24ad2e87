"""Fails costs-check: stops as soon as a size is worse than the one before."""


def best_size(compute_s, communication, sizes):
    best, least = sizes[0], compute_s / sizes[0] + communication(sizes[0])
    for size in sizes[1:]:
        step = compute_s / size + communication(size)
        if step > least:
            break
        if step < least:
            best, least = size, step
    return best, compute_s / least
