"""Fails power-step-check: returns the transpose."""


def power_step(m, q, mean):
    p = orthonormal(mean(m @ q))
    q = mean(m.T @ p)
    return q @ p.T, q
