"""Fails ensemble-check: takes the mean of weights."""


def ensemble_predict(layers, x):
    layers = [(w.mean(axis=0), b.mean(axis=0)) for w, b in layers]
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b, 0)
    w, b = layers[-1]
    return softmax(x @ w + b)
