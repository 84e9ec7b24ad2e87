"""Fails ensemble-check: cuts off the logits, too."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[:, None], 0)
    w, b = layers[-1]
    return softmax(np.maximum(x @ w + b[:, None], 0)).mean(axis=0)
