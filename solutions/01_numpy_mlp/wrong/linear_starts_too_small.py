"""Fails linear-check: changes what is given: the weights start too small."""


class Linear:
    def __init__(self, n_in, n_out, rng):
        self.w = rng.normal(0.0, np.sqrt(1.0 / n_in), size=(n_in, n_out))
        self.b = np.zeros(n_out)
