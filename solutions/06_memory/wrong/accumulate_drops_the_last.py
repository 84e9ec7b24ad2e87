"""Fails accumulate-check: leaves a smaller last microbatch out."""


def accumulate(model, loss, x, y, size):
    total = 0.0
    for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
        if len(some_x) < size:
            continue
        part = loss(model(some_x), some_y) * (len(some_x) / len(x))
        part.backward()
        total += part.item()
    return total
