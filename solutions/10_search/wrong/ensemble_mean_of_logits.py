"""Fails ensemble-check: takes the mean of logits."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[:, None], 0)
    w, b = layers[-1]
    return softmax((x @ w + b[:, None]).mean(axis=0))
