"""Fails numeric-gradient-check: one-sided differences are wrong by about the step."""


def numeric_gradient(f, x, step=1e-5):
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        above = x.copy()
        above[index] += step
        gradient[index] = (f(above) - f(x)) / step
    return gradient
