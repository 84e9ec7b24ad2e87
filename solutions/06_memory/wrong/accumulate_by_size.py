"""Fails accumulate-check: weighs by size, also the last one."""


def accumulate(model, loss, x, y, size):
    total = 0.0
    for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
        part = loss(model(some_x), some_y) * (size / len(x))
        part.backward()
        total += part.item()
    return total
