"""Fails ensemble-check: multiplies probabilities."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[:, None], 0)
    w, b = layers[-1]
    return softmax(np.log(softmax(x @ w + b[:, None]) + 1e-30).mean(axis=0))
