"""Fails power-step-check: makes Q orthonormal, too."""


def power_step(m, q, mean):
    p = orthonormal(mean(m @ q))
    new = mean(m.T @ p)
    return p @ new.T, orthonormal(new)
