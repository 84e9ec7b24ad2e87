"""Fails power-step-check: multiplies with the old q."""


def power_step(m, q, mean):
    p = orthonormal(mean(m @ q))
    new = mean(m.T @ p)
    return p @ q.T, new
