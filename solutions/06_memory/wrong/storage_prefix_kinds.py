"""Fails layer-storage-check: kinds are told by how they begin."""


def layer_storage(
    layers: list[Layer], batch: int, itemsize: int = 4
) -> dict[str, int]:
    """Return bytes of weights, outputs, and the gradients of both."""
    weights = outputs = 0
    for layer in layers:
        i, o = layer.inputs, layer.outputs
        out = o * layer.places
        if layer.kind.startswith("conv"):
            weights += i * o * layer.kernel**2
        elif layer.kind.startswith("lin"):
            weights += (i + 1) * o
        elif layer.kind.startswith("norm"):
            weights += 2 * o
        elif layer.kind.startswith("lstm"):
            weights += 4 * o * (i + o + 2)
            out *= 6
        outputs += out
    result = {
        "weights": weights * itemsize,
        "outputs": outputs * batch * itemsize,
    }
    result["weight gradients"] = result["weights"]
    result["output gradients"] = result["outputs"]
    return result
