"""The errors that are left in cells that did not end, or did not run."""

from __future__ import annotations

import nbformat

from autograder.notebook import grade_id_of, metadata_of
from autograder.protocol import NOT_RUN
from autograder.submission.sanitize_outputs import error

__all__ = ["append_error", "cell_name", "mark_not_run"]


def mark_not_run(notebook: nbformat.NotebookNode, reason: str) -> nbformat.NotebookNode:
    """Leave an error in every graded cell that was not run, in place: without one nbgrader would give full marks."""
    for cell in notebook.cells:
        graded = metadata_of(cell).get("grade", False)
        if cell.cell_type == "code" and graded and cell.execution_count is None and not cell.outputs:
            append_error(cell, NOT_RUN, reason)
    return notebook


def append_error(cell: nbformat.NotebookNode, name: str, value: str) -> None:
    """Add an error output to a cell."""
    cell.outputs.append(error(name, value))


def cell_name(number: int, cell: nbformat.NotebookNode) -> str:
    """Return how a message names the cell of this 0-based number."""
    grade_id = grade_id_of(cell)
    return f"cell {grade_id!r}" if grade_id else f"cell {number + 1}"
