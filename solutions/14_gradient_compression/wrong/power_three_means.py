"""Fails power-step-check: averages the result once more."""


def power_step(m, q, mean):
    p = orthonormal(mean(m @ q))
    q = mean(m.T @ p)
    return mean(p @ q.T), q
