"""Fails schedules-check: writes the number of a microbatch as text."""


def gpipe(stage: int, stages: int, microbatches: int) -> list[tuple[str, int]]:
    """Return all forward, then all backward operations."""
    names = [f"{what}{m}" for what in "FB" for m in range(microbatches)]
    return [(name[0], name[1:]) for name in names]


def one_f_one_b(
    stage: int, stages: int, microbatches: int
) -> list[tuple[str, int]]:
    """Return a few forward operations, then one of each in turn."""
    ahead = min(stages - 1 - stage, microbatches)
    names = [f"F{m}" for m in range(ahead)]
    for m in range(microbatches - ahead):
        names += [f"F{m + ahead}", f"B{m}"]
    names += [f"B{m}" for m in range(microbatches - ahead, microbatches)]
    return [(name[0], name[1:]) for name in names]
