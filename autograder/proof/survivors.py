"""How survivors are shown: the task's text, then each as a unified diff of its cell."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from autograder.proof.mutants import Mutant, Task

__all__ = ["difference", "show"]

_CONTEXT = 2


def show(survivors: Iterable[Mutant], tasks: Mapping[str, Task]) -> Iterator[str]:
    """Yield the lines about mutants that live; the text of a task stands once, above the first of its own."""
    shown = ""
    for mutant in survivors:
        task = tasks[mutant.task]
        if mutant.task != shown:
            shown = mutant.task
            yield from ("", f"=== {mutant.task}: what the text says", "")
            yield from (f"    {line}".rstrip() for line in task.text.splitlines())
        yield from ("", f"--- {mutant.task}, {mutant.function}: {mutant.rule}", "")
        yield from difference(task, mutant)


def difference(task: Task, mutant: Mutant) -> list[str]:
    """Return a unified diff of the task's cell and the mutant, without the lines that name files."""
    lines = difflib.unified_diff(task.source.splitlines(), mutant.changed.splitlines(), lineterm="", n=_CONTEXT)
    return [line for line in islice(lines, 2, None) if not line.startswith("@@")]
