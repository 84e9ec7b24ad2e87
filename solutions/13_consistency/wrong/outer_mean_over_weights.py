"""Fails outer-check: the mean over the wrong axis."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends.mean()
    velocity = momentum * velocity + delta
    return begin - rate * (delta + momentum * velocity), velocity
