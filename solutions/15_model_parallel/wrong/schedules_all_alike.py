"""Fails schedules-check: every stage as the first."""


def one_f_one_b(stage, stages, microbatches):
    ahead = min(stages - 1, microbatches)
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        order += [("F", ahead + m), ("B", m)]
    return order + [("B", m) for m in range(microbatches - ahead, microbatches)]
