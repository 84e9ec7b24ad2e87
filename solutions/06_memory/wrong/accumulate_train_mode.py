"""Fails accumulate-check: puts the model into training mode and leaves it so."""


def accumulate(model, loss, x, y, size: int) -> float:
    """Add the gradients of the mean loss, by microbatches; return it."""
    model.train()
    total = 0.0
    for begin in range(0, len(x), size):
        xs, ys = x[begin : begin + size], y[begin : begin + size]
        part = loss(model(xs), ys) * len(xs) / len(x)
        part.backward()
        total += part.item()
        del part
    return total
