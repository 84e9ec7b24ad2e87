"""Fails pso-step-check: flies away from both."""


def pso_step(x, v, best_x, best_loss, draw):
    r1, r2 = draw.random(x.shape), draw.random(x.shape)
    g = best_x[np.argmin(best_loss)]
    v = 0.7 * v + 1.5 * r1 * (x - best_x) + 1.5 * r2 * (x - g)
    return np.clip(x + v, 0, 1), v
