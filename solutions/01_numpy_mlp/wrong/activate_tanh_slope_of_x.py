"""Fails activate-check, mlp-check: the derivative of tanh is computed from x and not from tanh x."""


def activate(name, x):
    x = np.asarray(x, dtype=np.float64)
    if name == "relu":
        return np.maximum(x, 0.0), (x > 0).astype(np.float64)
    if name == "tanh":
        return np.tanh(x), 1.0 - x**2
    if name == "sigmoid":
        y = 0.5 * (1.0 + np.tanh(0.5 * x))
        return y, y * (1.0 - y)
    raise ValueError(name)
