"""Fails easgd-check: float32 becomes float64."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = np.float64(alpha) * (x - center)
    return x - rate * gradients - pull, center + pull.sum(axis=0)
