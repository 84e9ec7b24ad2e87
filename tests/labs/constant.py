"""What the best constant earns: one function of a task returns one of its right results, always; no other is written.

Usage: python -m tests.labs.constant LAB; prints, as JSON in the last line, for each test cell the points of the best
such answer, of how many, the function, what it returns, and the cases that passed. `thoughtless` tries constants
that know nothing of the task.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import nbformat

from autograder.execution import preloads
from autograder.proof.mutants import Task, heads, tasks_of
from autograder.proof.prepared import Prepared, is_test
from autograder.proof.sites import Solution
from autograder.release.build import build
from autograder.release.source import read_source
from tests.labs import constant_answers, shared_lines
from tests.labs.constant_answers import shown

__all__ = ["Best", "best_constants", "decorated"]

ROOT = Path(__file__).parents[2]
_MOST = 8
"""Constants of each function: those that it returns most often."""


class Best(NamedTuple):
    """The constant that earns most in a test cell."""

    points: float
    max_points: float
    function: str
    returns: str
    passed: tuple[str, ...]


def best_constants(lab: Path) -> dict[str, Best]:
    """Return what the best constant earns, by test cell; a cell in which none earns anything is left out."""
    notebook = nbformat.reads(build(lab).source_notebook.decode(), as_version=4)
    source = read_source(lab)
    found: dict[str, Best] = {}
    with shared_lines.opened() as path:
        modules = [*preloads((cell.source for cell in source.cells), source.lab.frameworks), constant_answers.__name__]
        with Prepared(notebook, modules, time_s=120) as prepared:
            for tasks, test in _tests_of(notebook):
                for points in filter(None, (_tried(prepared, *one) for one in _answers(prepared, tasks, test, path))):
                    found[test] = max(points, found.get(test, points), key=lambda best: best.points)
    return found


def _tests_of(notebook: nbformat.NotebookNode) -> Iterator[tuple[list[Task], str]]:
    """Yield the tasks between one test cell and the next, and that test's grade_id."""
    of, between = {task.name: task for task in tasks_of(notebook)}, list[Task]()
    for cell in notebook.cells:
        if cell.id in of:
            between.append(of[cell.id])
        elif cell.cell_type == "code" and is_test(cell):
            if between:
                yield between, cell.id
            between = []


def _answers(
    prepared: Prepared, tasks: list[Task], test: str, path: Path
) -> Iterator[tuple[dict[str, str], str, str, str]]:
    """Yield the cells in which one function returns a constant, the test, the function and the constant."""
    shared_lines.empty(path)
    prepared.answer({task.name: decorated(task, {}, "noted({!r})") for task in tasks}, only=[test])
    returned: Mapping[str, Counter[str]] = defaultdict(Counter)
    for name, written in shared_lines.read(path):
        returned[name][written] += 1
    for function, counts in returned.items():
        for constant, _ in counts.most_common(_MOST):
            cells = {task.name: decorated(task, {function: f"constant({constant!r})"}) for task in tasks}
            yield cells, test, function, constant


def decorated(
    task: Task, decorators: Mapping[str, str], others: str = "missing", module: str = "constant_answers"
) -> str:
    """Return the task's cell with a decorator of a module of these tests at each function but `__init__`."""
    source = task.source
    for function in reversed(heads(task)):  # from below, so that the lines above stay where they are
        if not function.name.endswith("__init__"):
            decorator = decorators.get(function.name, others.format(function.name))
            source = Solution(source).decorated(function, f"{module}.{decorator}")
    return f"from tests.labs import {module}\n{source}"


def _tried(prepared: Prepared, cells: dict[str, str], test: str, name: str, written: str) -> Best | None:
    outcome = prepared.answer(cells, only=[test]).tests.get(test)
    if outcome is None or not outcome.points:
        return None
    return Best(outcome.points, outcome.max_points, name, shown(written), outcome.passed)


if __name__ == "__main__":
    print(json.dumps(best_constants(ROOT / "solutions" / sys.argv[1])))
