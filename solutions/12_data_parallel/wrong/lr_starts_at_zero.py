"""Fails lr-at-check: warms up from 0 instead of from lr."""


def lr_at(step, lr, batch, reference, warmup):
    target = lr * batch / reference
    return target * min(1.0, step / warmup) if warmup else target
