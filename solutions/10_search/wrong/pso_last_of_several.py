"""Fails pso-step-check: the last of several lowest."""


def pso_step(x, v, best_x, best_loss, draw):
    r1, r2 = draw.random(x.shape), draw.random(x.shape)
    g = best_x[len(best_loss) - 1 - np.argmin(best_loss[::-1])]
    v = 0.7 * v + 1.5 * r1 * (best_x - x) + 1.5 * r2 * (g - x)
    return np.clip(x + v, 0, 1), v
