"""Fails outer-check: no look ahead."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends.mean(axis=0)
    velocity = momentum * velocity + delta
    return begin - rate * velocity, velocity
