"""Fails pso-step-check: changes x."""


def pso_step(x, v, best_x, best_loss, draw):
    r1, r2 = draw.random(x.shape), draw.random(x.shape)
    g = best_x[np.argmin(best_loss)]
    v = 0.7 * v + 1.5 * r1 * (best_x - x) + 1.5 * r2 * (g - x)
    return np.clip(np.add(x, v, out=x), 0, 1, out=x), v
