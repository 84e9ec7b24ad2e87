"""Fails accumulate-check: sees the batch at once."""


def accumulate(model, loss, x, y, size):
    total = 0.0
    for some_x, some_y in ((x, y),):
        part = loss(model(some_x), some_y) * (len(some_x) / len(x))
        part.backward()
        total += part.item()
    return total
