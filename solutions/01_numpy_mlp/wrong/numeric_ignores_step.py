"""Fails numeric-gradient-check: uses a step of its own and not the one that was given."""


def numeric_gradient(f, x, step=1e-5):
    x = np.asarray(x, dtype=np.float64)
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        move = np.zeros(x.shape)
        move[index] = 1e-5
        gradient[index] = (f(x + move) - f(x - move)) / 2e-5
    return gradient
