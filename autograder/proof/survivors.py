"""How mutants are shown: the task's text, then each as a unified diff of its cell, and what its author would read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from autograder.proof.mutants import Mutant, Task
from autograder.proof.trials import Trial

__all__ = ["difference", "one_of_each", "show"]

_CONTEXT = 2


def show(trials: Iterable[Trial], tasks: Mapping[str, Task]) -> Iterator[str]:
    """Yield the lines about mutants; the text of a task stands once, above the first of its own."""
    shown = ""
    for trial in trials:
        mutant = trial.mutant
        task = tasks[mutant.task]
        if mutant.task != shown:
            shown = mutant.task
            yield from ("", f"=== {mutant.task}: what the text says", "")
            yield from (f"    {line}".rstrip() for line in task.text.splitlines())
        yield from ("", f"--- {mutant.task}, {mutant.function}: {mutant.rule}", "")
        yield from difference(task, mutant)
        if trial.told:
            yield from ("", *(f"    {line}".rstrip() for line in trial.told.splitlines()))


def one_of_each(trials: Iterable[Trial]) -> Iterator[Trial]:
    """Yield of the mutants that are killed the first for each test and case that a kind of change fails."""
    seen = set()
    for trial in trials:
        if trial.fate == "killed" and (about := (trial.mutant.rule, trial.by)) not in seen:
            seen.add(about)
            yield trial


def difference(task: Task, mutant: Mutant) -> list[str]:
    """Return a unified diff of the task's cell and the mutant, without the lines that name files."""
    lines = difflib.unified_diff(task.source.splitlines(), mutant.changed.splitlines(), lineterm="", n=_CONTEXT)
    return [line for line in islice(lines, 2, None) if not line.startswith("@@")]
