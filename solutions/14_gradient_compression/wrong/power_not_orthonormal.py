"""Fails power-step-check: does not make P orthonormal."""


def power_step(m, q, mean):
    p = mean(m @ q)
    q = mean(m.T @ p)
    return p @ q.T, q
