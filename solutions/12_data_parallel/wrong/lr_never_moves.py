"""Earns nothing of lr-at-check: hands lr back."""


def lr_at(step, lr, batch, reference, warmup):
    return lr
