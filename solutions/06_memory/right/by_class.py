"""A match statement on the class that the text names."""


def layer_storage(layers, batch, itemsize=4):
    weights = outputs = 0
    for layer in layers:
        match layer:
            case Layer("conv", i, o, kernel, _):
                weights += i * o * kernel * kernel
            case Layer("linear", i, o):
                weights += i * o + o
            case Layer(kind="norm", outputs=o):
                weights += 2 * o
            case Layer("lstm", i, o, _, _):
                weights += 4 * o * (i + o + 2)
            case Layer():
                pass
            case _:
                raise TypeError(f"{layer!r} is no Layer")
        outputs += (
            (6 if layer.kind == "lstm" else 1) * layer.outputs * layer.places
        )
    weights, outputs = weights * itemsize, outputs * batch * itemsize
    return {
        "weights": weights,
        "outputs": outputs,
        "weight gradients": weights,
        "output gradients": outputs,
    }
