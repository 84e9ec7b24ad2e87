"""Fails lr-at-check: reaches the target a step early."""


def lr_at(step, lr, batch, reference, warmup):
    target = lr * batch / reference
    return (
        target
        if step + 1 >= warmup
        else lr + (target - lr) * (step + 1) / warmup
    )
