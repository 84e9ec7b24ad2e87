"""Fails ensemble-check: one bias for all members."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[0], 0)
    w, b = layers[-1]
    return softmax(x @ w + b[0]).mean(axis=0)
