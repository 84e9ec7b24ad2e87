"""Fails schedules-check: one F too many ahead."""


def one_f_one_b(stage, stages, microbatches):
    ahead = min(stages - stage, microbatches)
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        order += [("F", ahead + m), ("B", m)]
    return order + [("B", m) for m in range(microbatches - ahead, microbatches)]
