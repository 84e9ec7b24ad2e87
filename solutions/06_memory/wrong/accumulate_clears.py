"""Fails accumulate-check: clears gradients first."""


def accumulate(model, loss, x, y, size):
    total = 0.0
    for p in model.parameters():
        p.grad = None
    for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
        part = loss(model(some_x), some_y) * (len(some_x) / len(x))
        part.backward()
        total += part.item()
    return total
