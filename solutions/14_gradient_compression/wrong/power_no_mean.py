"""Fails power-step-check: forgets the other workers."""


def power_step(m, q, mean):
    p = orthonormal(m @ q)
    q = m.T @ p
    return p @ q.T, q
