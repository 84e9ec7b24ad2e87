"""Fails ensemble-check: nothing between layers."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = x @ w + b[:, None]
    w, b = layers[-1]
    return softmax(x @ w + b[:, None]).mean(axis=0)
