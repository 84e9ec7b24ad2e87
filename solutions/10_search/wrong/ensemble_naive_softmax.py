"""Fails ensemble-check: overflows for large logits."""


def ensemble_predict(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b[:, None], 0)
    w, b = layers[-1]
    return (
        np.exp(x @ w + b[:, None])
        / np.exp(x @ w + b[:, None]).sum(axis=-1, keepdims=True)
    ).mean(axis=0)
