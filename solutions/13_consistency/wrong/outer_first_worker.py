"""Fails outer-check: takes the first worker only."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends[0]
    velocity = momentum * velocity + delta
    return begin - rate * (delta + momentum * velocity), velocity
