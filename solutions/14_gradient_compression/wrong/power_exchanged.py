"""Fails power-step-check: returns q first."""


def power_step(m, q, mean):
    p = orthonormal(mean(m @ q))
    q = mean(m.T @ p)
    return q, p @ q.T
