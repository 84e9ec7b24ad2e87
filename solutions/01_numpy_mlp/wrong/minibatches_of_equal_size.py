"""Fails fit-check: cuts the permutation into pieces of equal size, none of them of batch_size."""


def minibatches(n, batch_size, rng):
    return np.array_split(rng.permutation(n), -(-n // batch_size))
