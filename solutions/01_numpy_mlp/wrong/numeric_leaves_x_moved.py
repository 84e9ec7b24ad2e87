"""Fails numeric-gradient-check: moves the entries of x and does not put them back."""


def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        x[index] += step
        above = f(x)
        x[index] -= 2 * step
        below = f(x)
        gradient[index] = (above - below) / (2 * step)
    return gradient
