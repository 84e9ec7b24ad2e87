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

from autograder.execution.falsify import falsified
from autograder.execution.made import of_cells
from autograder.execution.marks import append_error, cell_name
from autograder.execution.results import Execution
from autograder.notebook import metadata_of
from autograder.protocol import BROKEN, MIME

__all__ = ["FORGED", "Canary", "canary", "watchable", "watched"]

_Outputs = Sequence[Any]
Run = Callable[[nbformat.NotebookNode], Execution]
"""Runs a notebook in a kernel of its own."""
FORGED = "a check that must fail did not"
"""What stands in a cell that was forged."""


@dataclass(frozen=True)
class Canary:
    """A test made false.

    Attributes:
        source: of the whole cell.
        betrayed: whether the outputs of the cell as it was written, and of this one, in that order, show a patch.
    """

    source: str
    betrayed: Callable[[_Outputs, _Outputs], bool]


def watched(
    run: Run,
    notebook: nbformat.NotebookNode,
    guarded: Collection[str],
    solution: Callable[[], nbformat.NotebookNode | None] = lambda: None,
    run_solution: Run | None = None,
) -> Execution:
    """Return the notebook, executed; its guarded tests, by their grade_ids, earn nothing where a false one passes.

    solution: gives the instructor's notebook, if there is one. What passes there, too, was no false check: then nobody
    is accused. run_solution: runs it with nothing of the student's beside it.
    """
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
    ran = [(execution.notebook.cells[number].outputs, other.notebook.cells[number].outputs) for number in canaries]
    forged = [
        number
        for (number, found), (own, false) in zip(canaries.items(), ran, strict=True)
        if _earning(execution.notebook.cells[number]) and found.betrayed(own, false)
    ]
    if forged and run_solution and (right := solution()):
        said = {_name(notebook.cells[number]): canaries[number] for number in forged}
        true = _true_of(run_solution, right, said)
        forged = [number for number in forged if _name(notebook.cells[number]) not in true]
    accused = []
    for number in forged:
        cell = execution.notebook.cells[number]
        accused.append(f"{cell_name(number, cell)}: {FORGED}: the kernel was tampered with")
        cell.outputs = []
        append_error(cell, BROKEN, FORGED)
    return replace(execution, forged=(*execution.forged, *accused))


def _true_of(run: Run, solution: nbformat.NotebookNode, false: Mapping[str, Canary]) -> set[str]:
    """Return those tests, by their grade_ids, whose false check passes in the instructor's notebook as well."""
    twin = copy.deepcopy(solution)
    places = {_name(cell): number for number, cell in enumerate(twin.cells) if _name(cell) in false}
    for name, number in places.items():
        twin.cells[number].source = false[name].source
    cells = run(twin).notebook.cells
    return {name for name, number in places.items() if false[name].betrayed((), cells[number].outputs)}


def canary(source: str, points: float = 1.0, whole: Collection[str] = ()) -> Canary:
    """Return a test cell, worth these points, with a check made false; see `falsify` for how, and for `whole`."""
    found = falsified(source, points, whole)
    if found.kind == "report":
        return Canary(found.text, lambda own, outputs: _a_case_passed(found.titles, own, outputs))
    if found.kind == "value":
        return Canary(found.text, lambda _, outputs: not _failed(outputs) and _values(outputs)[-1:] != [found.value])
    return Canary(found.text, lambda _, outputs: not _failed(outputs))


def watchable(source: str) -> bool:
    """Whether a false check in this cell ends it: in one that goes to a cell magic, but %%time, none may."""
    return re.match(r"\s*%%(?!time\b)", source) is None


def _twin(
    notebook: nbformat.NotebookNode, guarded: Collection[str]
) -> tuple[nbformat.NotebookNode, Mapping[int, Canary]]:
    twin, canaries = copy.deepcopy(notebook), {}
    whole = of_cells([cell.source for cell in notebook.cells if cell.cell_type == "code" and _instructor_s(cell)])
    for number, cell in enumerate(twin.cells):
        if cell.cell_type != "code" or _name(cell) not in guarded:
            continue
        if watchable(cell.source):
            canaries[number] = canary(cell.source, float(cell.metadata.nbgrader.get("points") or 1), whole)
            cell.source = canaries[number].source
    return twin, canaries


def _name(cell: nbformat.NotebookNode) -> str:
    return str(metadata_of(cell).get("grade_id", ""))


def _instructor_s(cell: nbformat.NotebookNode) -> bool:
    return bool(metadata_of(cell).get("locked")) and not metadata_of(cell).get("solution")


def _earning(cell: nbformat.NotebookNode) -> bool:
    return not _failed(cell.outputs)


def _failed(outputs: _Outputs) -> bool:
    return any(output.output_type == "error" for output in outputs)


def _a_case_passed(titles: Collection[str], own: _Outputs, outputs: _Outputs) -> bool:
    """Whether one of these cases, all of which are false, passed, or none of them was reported.

    A case that failed when it was true does not count: a wrong answer may meet the changed one by chance.
    """
    if _failed(outputs):
        return False
    before, after = _cases(own), _cases(outputs)
    passed = {title for title in titles if before.get(title, True) and after.get(title)}
    return bool(passed) or not titles & after.keys()


def _cases(outputs: _Outputs) -> dict[str, bool]:
    """Return which cases passed, by title, as the reports say; nothing if they cannot be read."""
    reports = [output.get("data", {}).get(MIME) for output in outputs]
    try:
        cases = [case for report in reports if report is not None for case in report["cases"]]
        return {str(case["title"]): case["passed"] is not False for case in cases}
    except (KeyError, TypeError):
        return {}


def _values(outputs: _Outputs) -> list[Any]:
    return [output.data.get("text/plain") for output in outputs if output.output_type == "execute_result"]
