"""Fails lr-at-check: divides by a warm-up of 0."""


def lr_at(step, lr, batch, reference, warmup):
    target = lr * batch / reference
    return lr + (target - lr) * min(1.0, step / warmup)
