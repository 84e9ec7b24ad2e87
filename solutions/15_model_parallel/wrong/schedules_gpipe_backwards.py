"""Fails schedules-check: backward from the last to the first, which the text does not say."""


def gpipe(stage, stages, microbatches):
    ms = range(microbatches)
    return [("F", m) for m in ms] + [("B", m) for m in reversed(ms)]
