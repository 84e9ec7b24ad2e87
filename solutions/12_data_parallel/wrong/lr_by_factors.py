"""Fails lr-at-check: grows by equal factors, not by equal amounts."""


def lr_at(step, lr, batch, reference, warmup):
    target = lr * batch / reference
    return target if step >= warmup else lr * (target / lr) ** (step / warmup)
