"""Fails regularisers-check, mlp-check, fit-check: does nothing; its mask is another one when it is read again."""


class Mask:
    def __init__(self, x, p):
        self.x, self.looked = x, 0
        self.first = np.zeros(x.shape)
        self.first.flat[0] = 1 / (1 - p)

    def __array__(self, dtype=None, copy=None):
        self.looked += 1
        return self.first if self.looked == 1 else np.ones(self.x.shape)


def dropout(x, p, rng):
    return x, Mask(x, p)
