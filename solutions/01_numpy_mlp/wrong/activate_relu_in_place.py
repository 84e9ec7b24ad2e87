"""Fails activate-check: relu overwrites its input instead of making a new array."""


def activate(name, x):
    x = np.asarray(x, dtype=np.float64)
    if name == "relu":
        slope = (x > 0).astype(np.float64)
        x[x < 0] = 0.0
        return x, slope
    if name == "tanh":
        return np.tanh(x), 1.0 - np.tanh(x) ** 2
    if name == "sigmoid":
        y = 0.5 * (1.0 + np.tanh(0.5 * x))
        return y, y * (1.0 - y)
    raise ValueError(name)
