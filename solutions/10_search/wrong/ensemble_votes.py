"""Fails ensemble-check: counts votes."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[:, None], 0)
    w, b = layers[-1]
    return np.eye(w.shape[2])[(x @ w + b[:, None]).argmax(axis=-1)].mean(axis=0)
