"""Fails activate-check: computes in float32, too coarse for a gradient check."""


def activate(name, x):
    x = np.asarray(x, dtype=np.float32)
    if name == "relu":
        return np.maximum(x, 0), (x > 0).astype(np.float32)
    if name == "tanh":
        return np.tanh(x), 1 - np.tanh(x) ** 2
    if name == "sigmoid":
        y = 1 / (1 + np.exp(-x))
        return y, y * (1 - y)
    raise ValueError(name)
