"""Fails numeric-gradient-check: entries before stay moved when the next one is."""


def numeric_gradient(f, x, step=1e-5):
    x = np.array(x, dtype=np.float64)
    out = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        old = x[i]
        x[i] = old + step
        above = f(x)
        x[i] = old - step
        below = f(x)
        out[i] = (above - below) / (2 * step)
    return out
