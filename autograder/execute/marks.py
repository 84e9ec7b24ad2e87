"""The errors that are left in cells that did not end, or did not run."""

from __future__ import annotations

import nbformat

from autograder.score import NOT_RUN

__all__ = ["BROKEN", "DIED", "KERNEL_ENDED", "TIMED_OUT", "append_error", "cell_name", "mark_not_run"]

TIMED_OUT, DIED, BROKEN = KERNEL_ENDED = ("CellTimeoutError", "KernelDied", "KernelBroken")
"""The error names that are left in a cell during which something ended."""


def mark_not_run(notebook: nbformat.NotebookNode, reason: str) -> nbformat.NotebookNode:
    """Leave an error in every graded cell that was not run, in place: without one nbgrader would give full marks."""
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {}).get("grade", False)
        if cell.cell_type == "code" and graded and cell.execution_count is None and not cell.outputs:
            append_error(cell, NOT_RUN, reason)
    return notebook


def append_error(cell: nbformat.NotebookNode, name: str, value: str, trace: list[str] | None = None) -> None:
    """Add an error output to a cell."""
    lines = trace or [f"{name}: {value}"]
    cell.outputs.append(nbformat.v4.new_output("error", ename=name, evalue=value, traceback=lines))


def cell_name(number: int, cell: nbformat.NotebookNode) -> str:
    """Return how a message names the cell of this 0-based number."""
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return f"cell {grade_id!r}" if grade_id else f"cell {number + 1}"
