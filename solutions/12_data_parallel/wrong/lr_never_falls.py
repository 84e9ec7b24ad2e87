"""Fails lr-at-check: refuses a rate below lr for a smaller batch."""


def lr_at(step, lr, batch, reference, warmup):
    target = max(lr, lr * batch / reference)
    return target if step >= warmup else lr + (target - lr) * step / warmup
