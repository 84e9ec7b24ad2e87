"""Fails outer-check: the old velocity in the second formula."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends.mean(axis=0)
    new = momentum * velocity + delta
    return begin - rate * (delta + momentum * velocity), new
