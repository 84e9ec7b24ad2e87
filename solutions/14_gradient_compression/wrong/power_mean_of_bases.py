"""Fails power-step-check: averages the bases."""


def power_step(m, q, mean):
    p = mean(orthonormal(m @ q))
    q = mean(m.T @ p)
    return p @ q.T, q
