"""Fails schedules-check: 1F1B is GPipe."""


def one_f_one_b(stage, stages, microbatches):
    return gpipe(stage, stages, microbatches)
