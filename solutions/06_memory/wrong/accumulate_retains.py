"""Fails accumulate-check: keeps each graph."""


def accumulate(model, loss, x, y, size):
    total, graphs = 0.0, []
    for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
        part = loss(model(some_x), some_y) * (len(some_x) / len(x))
        part.backward(retain_graph=True)
        graphs.append(part)
        total += part.item()
    return total
