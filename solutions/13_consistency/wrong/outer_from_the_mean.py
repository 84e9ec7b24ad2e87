"""Fails outer-check: steps from the mean of the ends."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends.mean(axis=0)
    velocity = momentum * velocity + delta
    return ends.mean(axis=0) - rate * (delta + momentum * velocity), velocity
