"""Fails schedules-check: a microbatch after the other."""


def gpipe(stage, stages, microbatches):
    return [(what, m) for m in range(microbatches) for what in "FB"]
