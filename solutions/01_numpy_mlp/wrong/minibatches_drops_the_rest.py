"""Fails fit-check: the last, shorter batch is left out."""


def minibatches(n, batch_size, rng):
    order = rng.permutation(n)
    return [
        order[i * batch_size : (i + 1) * batch_size]
        for i in range(n // batch_size)
    ]
