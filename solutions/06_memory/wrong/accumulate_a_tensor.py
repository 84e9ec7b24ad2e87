"""Fails accumulate-check: returns a tensor."""


def accumulate(model, loss, x, y, size):
    total = 0.0
    for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
        part = loss(model(some_x), some_y) * (len(some_x) / len(x))
        part.backward()
        total += part.detach()
    return total
