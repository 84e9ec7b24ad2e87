"""Fails schedules-check: both are generators, used up after one pass."""


def gpipe(stage: int, stages: int, microbatches: int) -> list[tuple[str, int]]:
    for what in "FB":
        for m in range(microbatches):
            yield what, m


def one_f_one_b(
    stage: int, stages: int, microbatches: int
) -> list[tuple[str, int]]:
    ahead = min(stages - 1 - stage, microbatches)
    for m in range(microbatches + ahead):
        if m < microbatches:
            yield "F", m
        if m >= ahead:
            yield "B", m - ahead
