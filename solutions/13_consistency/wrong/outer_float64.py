"""Fails outer-check: float32 becomes float64."""


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - ends.mean(axis=0)
    velocity = np.float64(momentum) * velocity + delta
    return begin - rate * (delta + momentum * velocity), velocity
