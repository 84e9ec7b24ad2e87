"""Fails power-step-check: averages P only."""


def power_step(m, q, mean):
    p = orthonormal(mean(m @ q))
    q = m.T @ p
    return p @ q.T, q
