"""Fails numeric-gradient-check: divides by the step and not by twice the step."""


def numeric_gradient(f, x, step=1e-5):
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[index] += step
        below[index] -= step
        gradient[index] = (f(above) - f(below)) / step
    return gradient
