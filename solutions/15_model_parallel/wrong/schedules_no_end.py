"""Fails schedules-check: the last B are forgotten."""


def one_f_one_b(stage, stages, microbatches):
    ahead = min(stages - 1 - stage, microbatches)
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        order += [("F", ahead + m), ("B", m)]
    return order
