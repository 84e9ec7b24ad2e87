"""Fails lr-at-check: the target from the start."""


def lr_at(step, lr, batch, reference, warmup):
    return lr * batch / reference
