"""Fails layer-storage-check: takes a kernel for a line."""


def layer_storage(layers, batch, itemsize=4):
    weights = outputs = 0
    for kind, i, o, kernel, places in layers:
        weights += {
            "conv": i * o * kernel,
            "linear": i * o + o,
            "norm": 2 * o,
            "lstm": 4 * o * (i + o + 2),
        }.get(kind, 0)
        outputs += (6 if kind == "lstm" else 1) * o * places
    weights, outputs = weights * itemsize, outputs * batch * itemsize
    return {
        "weights": weights,
        "outputs": outputs,
        "weight gradients": weights,
        "output gradients": outputs,
    }
