"""Fails power-step-check: computes in float64."""


def power_step(m, q, mean):
    m, q = m.astype(float), q.astype(float)
    p = orthonormal(mean(m @ q))
    q = mean(m.T @ p)
    return (p @ q.T).astype(float), q.astype(float)
