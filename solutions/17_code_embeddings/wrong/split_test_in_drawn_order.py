"""Fails split-check: test rows stand program after program as they were drawn."""

import numpy as np


def split_by_program(owners: list, n_test: int, seed: int):
    """Return the rows to train on, and those of n_test other programs."""
    number = {}
    for owner in owners:
        number.setdefault(owner, len(number))
    ids = np.array([number[owner] for owner in owners], np.int64)
    order = np.random.default_rng(seed).permutation(len(number))
    rows = [np.nonzero(ids == i)[0] for i in order[:n_test]]
    test = np.concatenate([np.zeros(0, np.int64), *rows])
    return np.setdiff1d(np.arange(len(ids)), test), test
