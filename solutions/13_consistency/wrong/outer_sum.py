"""Fails outer-check: sums over the workers."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = (begin - ends).sum(axis=0)
    velocity = momentum * velocity + delta
    return begin - rate * (delta + momentum * velocity), velocity
