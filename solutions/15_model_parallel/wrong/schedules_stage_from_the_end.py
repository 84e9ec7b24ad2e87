"""Fails schedules-check: the last stage runs ahead."""


def one_f_one_b(stage, stages, microbatches):
    ahead = min(stage, microbatches)
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        order += [("F", ahead + m), ("B", m)]
    return order + [("B", m) for m in range(microbatches - ahead, microbatches)]
