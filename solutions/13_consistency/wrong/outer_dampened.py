"""Fails outer-check: delta is damped."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends.mean(axis=0)
    velocity = momentum * velocity + (1 - momentum) * delta
    return begin - rate * (delta + momentum * velocity), velocity
