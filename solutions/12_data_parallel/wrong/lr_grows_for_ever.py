"""Fails lr-at-check: does not stop at the target."""


def lr_at(step, lr, batch, reference, warmup):
    target = lr * batch / reference
    return lr + (target - lr) * step / warmup if warmup else target
