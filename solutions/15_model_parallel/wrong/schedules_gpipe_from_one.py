"""Fails schedules-check: microbatches from 1."""


def gpipe(stage, stages, microbatches):
    return [(what, m + 1) for what in "FB" for m in range(microbatches)]
