"""Fails ensemble-check: subtracts one maximum for all."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[:, None], 0)
    w, b = layers[-1]
    z = x @ w + b[:, None]
    e = np.exp(z - z.max(initial=0))
    return (e / e.sum(axis=-1, keepdims=True)).mean(axis=0)
