"""Fails numeric-gradient-check: moves the entries of an integer array, which rounds the step away."""


def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        here = x[index]
        x[index] = here + step
        above = f(x)
        x[index] = here - step
        below = f(x)
        x[index] = here
        gradient[index] = (above - below) / (2 * step)
    return gradient
