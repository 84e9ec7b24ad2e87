"""Fails lr-at-check: rounds batch / reference down."""


def lr_at(step, lr, batch, reference, warmup):
    target = lr * (batch // reference)
    return target if step >= warmup else lr + (target - lr) * step / warmup
