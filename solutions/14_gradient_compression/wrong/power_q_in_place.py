"""Fails power-step-check: writes the next q into q."""


def power_step(m, q, mean):
    p = orthonormal(mean(m @ q))
    q[:] = mean(m.T @ p)
    return p @ q.T, q
