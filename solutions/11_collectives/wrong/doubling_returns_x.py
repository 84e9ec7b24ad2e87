"""Fails recursive-doubling-check: sends nothing and returns what it was given."""


def recursive_doubling(comm, x):
    return x
