"""What nbgrader does to one notebook: a student's version made, cells registered, outputs read as points."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
    NbGraderPreprocessor,
    SaveCells,
)
from nbgrader.utils import compute_checksum, determine_grade

from autograder.errors import SourceError
from autograder.markers import clear_solutions
from autograder.notebook import grade_id_of, metadata_of, students_own

__all__ = [
    "AFTER_SAVING",
    "BEFORE_SAVING",
    "REFUSED",
    "CheckMarkers",
    "RefuseMarkers",
    "StubSolutions",
    "as_mark_scheme",
    "checksum",
    "hide_mark_schemes",
    "nbgrader_points",
    "release_version",
    "save_cells",
]


REFUSED = "students would receive"
"""Stands in what RefuseMarkers says."""


class StubSolutions(ClearSolutions):  # type: ignore[misc]
    """nbgrader's ClearSolutions, with a stub that names the task in a block marked as ours are; for nbgrader_config.py.

    nbgrader sees a marker wherever a line contains one, and clears a cell without any whole: so it does here.
    """

    _stubbed: frozenset[int] = frozenset()

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        before = [cell.source for cell in nb.cells]
        nb = clear_solutions(nb)
        self._stubbed = frozenset(n for n, cell in enumerate(nb.cells) if cell.source != before[n])
        found: tuple[Any, Any] = super().preprocess(nb, resources)
        return found

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        if cell_index not in self._stubbed:
            found: tuple[Any, Any] = super().preprocess_cell(cell, resources, cell_index)
            return found
        self._replace_solution_region(cell, resources["language"])  # what else is there is to stay
        return cell, resources


class RefuseMarkers(NbGraderPreprocessor):  # type: ignore[misc]
    """Raises RuntimeError for a marker that no step before has removed; what it marks would be students' to read."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        for number, cell in enumerate(nb.cells, 1):
            for marker in _markers(self):
                if marker and marker in cell.source:
                    raise RuntimeError(f"{REFUSED} {marker!r} in cell {_name(cell, number)}")
        return nb, resources


class CheckMarkers(NbGraderPreprocessor):  # type: ignore[misc]
    """Raises SourceError, with file, cell and line, for a marker without its partner, or in a cell of another kind.

    nbgrader's own error says neither cell nor line; and where an end has no beginning, it publishes what stands above.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        place = resources.get("metadata", {})
        path = Path(place.get("path", ""), f"{place.get('name', 'notebook')}.ipynb")
        for number, cell in enumerate(nb.cells, 1):
            where = f"{path}, cell {_name(cell, number)}, line"
            for step, begin, end, kind in _pairs(self):
                line = _first_block(cell.source, begin, end, where)
                if line and step.enforce_metadata and not metadata_of(cell).get(kind):
                    wrong = f"{where} {line}: {begin} in a cell that is not marked as {kind}"
                    raise SourceError(wrong, hint="mark the cell in nbgrader's toolbar, or move the block")
        return nb, resources


def _first_block(source: str, begin: str, end: str, where: str) -> int:
    """Return the line of the first block, 0 if there is none; raise SourceError for a marker without its partner."""
    first = inside = 0
    for number, line in enumerate(source.split("\n"), 1):
        if begin in line and inside:
            raise SourceError(
                f"{where} {number}: {begin} inside another block", hint=f"end that of line {inside} first"
            )
        if begin in line:
            inside, first = number, first or number
        elif end in line and not inside:
            raise SourceError(f"{where} {number}: {end} without {begin}", hint="open the block above it, or delete it")
        elif end in line:
            inside = 0
    if inside:
        raise SourceError(f"{where} {inside}: {begin} without {end}", hint="end the block in this cell, or delete it")
    return first


def _name(cell: nbformat.NotebookNode, number: int) -> str:
    return repr(grade_id_of(cell)) if grade_id_of(cell) else str(number)


def _pairs(parent: Any) -> list[tuple[Any, str, str, str]]:
    """Return each step that clears what is marked, its two markers, and the kind of cell in which they may stand."""
    solutions, tests, schemes = (step(parent=parent) for step in (ClearSolutions, ClearHiddenTests, ClearMarkScheme))
    return [
        (solutions, solutions.begin_solution_delimeter, solutions.end_solution_delimeter, "solution"),
        (tests, tests.begin_test_delimeter, tests.end_test_delimeter, "grade"),
        (schemes, schemes.begin_mark_scheme_delimeter, schemes.end_mark_scheme_delimeter, "task"),
    ]


def _markers(parent: Any) -> tuple[str, ...]:
    """Return what a course with this configuration marks that students are not to see."""
    return tuple(marker for _, begin, end, _ in _pairs(parent) for marker in (begin, end))


def _around_schemes(parent: Any) -> tuple[str, str]:
    _, begin, end, _ = _pairs(parent)[-1]
    return begin, end


def as_mark_scheme(text: str, parent: Any) -> str:
    """Return text between the lines that stand around a mark scheme; they cannot stand in it.

    parent: what has the course's configuration.
    """
    begin, end = _around_schemes(parent)
    inner = [line for line in text.split("\n") if begin not in line and end not in line]
    return "\n".join([f"### {begin}\n", *inner, f"\n### {end}"])


def hide_mark_schemes(notebook: nbformat.NotebookNode, parent: Any) -> None:
    """Take the mark schemes out of a graded notebook's locked cells, in place; one without an end to the cell's end.

    parent: what has the course's configuration. nbgrader's own ClearMarkScheme raises errors at what students write.
    """
    begin, end = _around_schemes(parent)
    for cell in notebook.cells:
        if students_own(cell) or begin not in cell.source:
            continue
        kept, inside = [], False
        for line in cell.source.split("\n"):
            inside = inside or begin in line
            if not inside:
                kept.append(line)
            inside = inside and end not in line
        cell.source = "\n".join(kept)


BEFORE_SAVING = [LockCells, StubSolutions, ClearOutput, CheckCellMetadata, ComputeChecksums]
AFTER_SAVING = [ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata, RefuseMarkers]


def release_version(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the students' version of an instructor's notebook: no solutions, no hidden tests, checksums set."""
    return _process(notebook, [*BEFORE_SAVING, *AFTER_SAVING], {})


def save_cells(notebook: nbformat.NotebookNode, lab: str, db_url: str) -> None:
    """Write the cells of an instructor's notebook to the gradebook; RuntimeError if submissions forbid it."""
    place = {"notebook": lab, "assignment": lab, "db_url": db_url}
    _process(notebook, [*BEFORE_SAVING, SaveCells], {"nbgrader": place})


def checksum(cell: nbformat.NotebookNode) -> str:
    """Return nbgrader's checksum of a cell."""
    return str(compute_checksum(cell))


def nbgrader_points(cell: nbformat.NotebookNode) -> float | None:
    """Return what nbgrader itself would give for the outputs of this cell; None if a person grades it, or it cannot."""
    try:
        points, _ = determine_grade(cell)
    except (KeyError, TypeError, ValueError):  # a result without text, whose text is none, or above the points
        return None
    return None if points is None else float(points)


def _process(
    notebook: nbformat.NotebookNode, preprocessors: list[type], resources: Mapping[str, Any]
) -> nbformat.NotebookNode:
    notebook, resources = copy.deepcopy(notebook), dict(resources)
    for preprocessor in preprocessors:
        notebook, resources = preprocessor().preprocess(notebook, resources)
    return notebook
