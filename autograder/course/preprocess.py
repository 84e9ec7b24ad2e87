"""What nbgrader does to one notebook: a student's version made, cells registered, outputs read as points."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import nbformat
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    ComputeChecksums,
    LockCells,
    NbGraderPreprocessor,
    SaveCells,
)
from nbgrader.utils import compute_checksum, determine_grade

from autograder.markers import clear_solutions

__all__ = [
    "AFTER_SAVING",
    "BEFORE_SAVING",
    "StubSolutions",
    "checksum",
    "nbgrader_points",
    "release_version",
    "save_cells",
]


class StubSolutions(NbGraderPreprocessor):  # type: ignore[misc]
    """nbgrader's ClearSolutions, with a stub that names the task; for nbgrader_config.py."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        return clear_solutions(nb), resources


BEFORE_SAVING = [LockCells, StubSolutions, ClearOutput, CheckCellMetadata, ComputeChecksums]
AFTER_SAVING = [ClearHiddenTests, ComputeChecksums, CheckCellMetadata]


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
