"""Fails outer-check: the rate goes into the velocity."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends.mean(axis=0)
    velocity = momentum * velocity + rate * delta
    return begin - (rate * delta + momentum * velocity), velocity
