"""Fails accumulate-check: takes one example at a time."""


def accumulate(model, loss, x, y, size):
    total = 0.0
    for some_x, some_y in zip(x.split(1), y.split(1), strict=True):
        part = loss(model(some_x), some_y) * (len(some_x) / len(x))
        part.backward()
        total += part.item()
    return total
