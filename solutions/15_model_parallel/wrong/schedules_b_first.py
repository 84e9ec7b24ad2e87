"""Fails schedules-check: in each turn B before F."""


def one_f_one_b(stage, stages, microbatches):
    ahead = min(stages - 1 - stage, microbatches)
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        order += [("B", m), ("F", ahead + m)]
    return order + [("B", m) for m in range(microbatches - ahead, microbatches)]
