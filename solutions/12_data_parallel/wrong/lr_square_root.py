"""Fails lr-at-check: scales by the square root."""


def lr_at(step, lr, batch, reference, warmup):
    target = lr * (batch / reference) ** 0.5
    return target if step >= warmup else lr + (target - lr) * step / warmup
