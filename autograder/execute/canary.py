"""Checks that must fail, for tests that run in the student's own kernel: one that passes betrays a patch.

The notebook is run a second time, in a kernel that shares nothing with the first, with one check of each test made
false. Which of the two runs comes first is tossed for, so that neither can tell which one it is: not by counting, nor
by what another left behind.
"""

from __future__ import annotations

import copy
import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import nbformat

from autograder.execute.marks import BROKEN, append_error, cell_name
from autograder.execute.mutate import falsified
from autograder.execute.run import Execution
from autograder.score import MIME

__all__ = ["FORGED", "Canary", "canary", "watchable", "watched"]

_Outputs = Sequence[Any]
FORGED = "a check that must fail did not"
"""What stands in a cell that was forged."""


@dataclass(frozen=True)
class Canary:
    """A test made false.

    Attributes:
        source: of the whole cell.
        noticed: whether the outputs of a kernel that was left alone can be these.
    """

    source: str
    noticed: Callable[[_Outputs], bool]


def watched(
    run: Callable[[nbformat.NotebookNode], Execution], notebook: nbformat.NotebookNode, guarded: Collection[str]
) -> Execution:
    """Return the notebook, executed; its guarded tests, by their grade_ids, earn nothing where a false one passes."""
    twin, canaries = _twin(notebook, guarded)
    if not canaries:
        return run(notebook)
    if secrets.randbelow(2):
        other = run(twin)
        execution = run(notebook)
    else:
        execution = run(notebook)
        if not any(_earning(execution.notebook.cells[number]) for number in canaries):
            return execution
        other = run(twin)
    forged = []
    for number, found in canaries.items():
        cell = execution.notebook.cells[number]
        if _earning(cell) and not found.noticed(other.notebook.cells[number].outputs):
            forged.append(f"{cell_name(number, cell)}: {FORGED}: the kernel was tampered with")
            cell.outputs = []
            append_error(cell, BROKEN, FORGED)
    return replace(execution, forged=(*execution.forged, *forged))


def canary(source: str) -> Canary:
    """Return a test cell with a check made false; see `mutate` for how."""
    text, kind, value = falsified(source)
    if kind == "report":
        return Canary(text, _a_case_failed)
    return Canary(text, _failed if kind == "error" else _ended_in(value))


def watchable(source: str) -> bool:
    """Whether a false check in this cell ends it: in one that goes to a cell magic, but %%time, none may."""
    return re.match(r"\s*%%(?!time\b)", source) is None


def _twin(
    notebook: nbformat.NotebookNode, guarded: Collection[str]
) -> tuple[nbformat.NotebookNode, Mapping[int, Canary]]:
    twin, canaries = copy.deepcopy(notebook), {}
    for number, cell in enumerate(twin.cells):
        if cell.cell_type != "code" or cell.metadata.get("nbgrader", {}).get("grade_id") not in guarded:
            continue
        if watchable(cell.source):
            canaries[number] = canary(cell.source)
            cell.source = canaries[number].source
    return twin, canaries


def _earning(cell: nbformat.NotebookNode) -> bool:
    return not _failed(cell.outputs)


def _failed(outputs: _Outputs) -> bool:
    return any(output.output_type == "error" for output in outputs)


def _a_case_failed(outputs: _Outputs) -> bool:
    return _failed(outputs) or any(_fails(output.get("data", {}).get(MIME)) for output in outputs)


def _fails(report: Any) -> bool:
    try:
        return any(case["passed"] is False for case in report["cases"])
    except (KeyError, TypeError):
        return False


def _ended_in(value: str) -> Callable[[_Outputs], bool]:
    def noticed(outputs: _Outputs) -> bool:
        values = [output.data.get("text/plain") for output in outputs if output.output_type == "execute_result"]
        return _failed(outputs) or values[-1:] == [value]

    return noticed
