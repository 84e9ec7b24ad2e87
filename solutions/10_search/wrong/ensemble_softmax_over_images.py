"""Fails ensemble-check: softmax over the wrong axis."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[:, None], 0)
    w, b = layers[-1]
    return np.moveaxis(
        softmax(np.moveaxis(x @ w + b[:, None], 1, 2)), 1, 2
    ).mean(axis=0)
