"""Fails power-step-check: averages the whole gradient."""


def power_step(m, q, mean):
    m = mean(m)
    p = orthonormal(m @ q)
    q = m.T @ p
    return p @ q.T, q
