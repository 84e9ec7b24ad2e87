"""Fails layer-storage-check: a linear layer is counted as a convolution with a bias: times kernel squared, which the table does not say."""


def layer_storage(
    layers: list[Layer], batch: int, itemsize: int = 4
) -> dict[str, int]:
    """Return bytes of weights, outputs, and the gradients of both."""
    weights = outputs = 0
    for kind, i, o, kernel, places in layers:
        each = 1
        if kind in ("conv", "linear"):
            weights += i * o * kernel**2
            if kind == "linear":
                weights += o
        elif kind == "norm":
            weights += 2 * o
        elif kind == "lstm":
            weights += 4 * o * (i + o + 2)
            each = 6
        outputs += each * o * places * batch
    w, o = weights * itemsize, outputs * itemsize
    return {
        "weights": w, "outputs": o,
        "weight gradients": w, "output gradients": o,
    }  # fmt: skip
