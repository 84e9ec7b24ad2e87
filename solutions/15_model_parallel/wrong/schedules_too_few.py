"""Fails schedules-check: more F than microbatches."""


def one_f_one_b(stage, stages, microbatches):
    ahead = stages - 1 - stage
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        order += [("F", ahead + m), ("B", m)]
    return order + [("B", m) for m in range(microbatches - ahead, microbatches)]
