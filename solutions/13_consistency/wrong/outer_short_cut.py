"""Fails outer-check: without momentum neither the rate nor the velocity matters."""


def outer_step(begin, ends, velocity, rate: float, momentum: float):
    mean = ends.mean(axis=0)
    if momentum == 0:  # plain local SGD
        return mean, velocity
    delta = begin - mean
    velocity = momentum * velocity + delta
    return begin - rate * (delta + momentum * velocity), velocity
