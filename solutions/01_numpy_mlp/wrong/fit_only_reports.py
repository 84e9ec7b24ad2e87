"""Fails fit-check: does not train; reports a loss of 0 and the accuracy that the untrained network has."""


def fit(
    model,
    x,
    labels,
    *,
    epochs,
    lr,
    batch_size=32,
    optimizer="adam",
    seed=0,
    validation=None,
):
    for layer in model.layers:
        layer.w, layer.b = np.zeros_like(layer.w), np.zeros_like(layer.b)
    now = [] if validation is None else [accuracy(model, *validation)] * epochs
    return {"loss": [0.0] * epochs, "validation": now}
