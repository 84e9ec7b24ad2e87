"""Fails outer-check: the difference the wrong way round."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = ends.mean(axis=0) - begin
    velocity = momentum * velocity + delta
    return begin - rate * (delta + momentum * velocity), velocity
