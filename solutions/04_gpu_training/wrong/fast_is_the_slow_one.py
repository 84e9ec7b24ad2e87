"""Fails fast-training-check: calls slow_training."""


def fast_training(model, optimizer, images, labels, device, **options):
    return slow_training(model, optimizer, images, labels, device, **options)
