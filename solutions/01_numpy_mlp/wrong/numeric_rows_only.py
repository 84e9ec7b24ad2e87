"""Fails numeric-gradient-check: moves whole rows of a matrix at once."""


def numeric_gradient(f, x, step=1e-5):
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for i in range(len(x)):
        above, below = x.copy(), x.copy()
        above[i] += step
        below[i] -= step
        gradient[i] = (f(above) - f(below)) / (2 * step)
    return gradient
