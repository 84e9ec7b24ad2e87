"""Fails activate-check: exp(-x) is infinite for large negative x, and the slope becomes nan."""


def activate(name, x):
    x = np.asarray(x, dtype=np.float64)
    if name == "relu":
        return np.maximum(x, 0.0), (x > 0).astype(np.float64)
    if name == "tanh":
        return np.tanh(x), 1.0 - np.tanh(x) ** 2
    if name == "sigmoid":
        y = np.exp(x) / (1.0 + np.exp(x))
        return y, y * (1.0 - y)
    raise ValueError(name)
