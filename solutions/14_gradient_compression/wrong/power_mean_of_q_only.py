"""Fails power-step-check: averages Q only."""


def power_step(m, q, mean):
    p = orthonormal(m @ q)
    q = mean(m.T @ p)
    return p @ q.T, q
