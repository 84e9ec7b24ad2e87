"""How a notebook is read, and what nbgrader says about a cell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat

__all__ = [
    "PUT_BACK",
    "below_tasks",
    "grade_id_of",
    "is_fixed",
    "metadata_of",
    "read_notebook",
    "read_notebook_text",
    "students_own",
    "to_explore",
    "was_put_back",
]


PUT_BACK = {"autograder": {"put_back": True}}
"""Metadata of a cell that the grader put where a student's notebook had none."""


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """Return a notebook of ours, or of the instructor's, as nbformat 4; raises what nbformat's many readers raise."""
    return nbformat.read(path, as_version=4)


def read_notebook_text(content: bytes) -> nbformat.NotebookNode:
    """Return the notebook that a file with this content holds."""
    return nbformat.reads(content.decode(), as_version=4)


def is_fixed(about: Mapping[str, Any]) -> bool:
    """Whether a cell with this metadata of nbgrader's is not the student's to change."""
    return bool((about.get("grade") or about.get("locked")) and not about.get("solution"))


def metadata_of(cell: nbformat.NotebookNode) -> Mapping[str, Any]:
    """Return nbgrader's metadata of a cell; empty if there is none."""
    found: Mapping[str, Any] = cell.metadata.get("nbgrader", {})
    return found


def to_explore(cell: nbformat.NotebookNode) -> bool:
    """Whether the release made this one of the cells to explore, which are not run when work is graded."""
    return bool(cell.metadata.get("labkit", {}).get("explore"))


def students_own(cell: nbformat.NotebookNode) -> bool:
    """Whether the text of this cell is the student's: no cell of the lab, or one that is not locked."""
    about = metadata_of(cell)
    return not about or not about.get("locked", not about.get("solution"))


def was_put_back(cell: nbformat.NotebookNode) -> bool:
    """Whether the grader put this cell where a student's notebook had none: nothing in it is the student's."""
    return "autograder" in cell.metadata


def grade_id_of(cell: nbformat.NotebookNode) -> str:
    """Return the name that nbgrader knows a cell by; empty if it has none."""
    found = metadata_of(cell).get("grade_id", "")
    return found if isinstance(found, str) else ""


def below_tasks(
    cells: Iterable[nbformat.NotebookNode], known: Collection[str] | None = None
) -> dict[str, list[nbformat.NotebookNode]]:
    """Return what students have added below nbgrader's task cells, by the task's name: they have no cell to answer in.

    An empty cell, as JupyterLab leaves one at the end, is no part of an answer.

    known: the names of the lab's own cells, of which the next one ends an answer; else any that nbgrader knows.
    """
    found = dict[str, list[nbformat.NotebookNode]]()
    task = ""
    for cell in cells:
        name = grade_id_of(cell)
        if name and (known is None or name in known):
            task = name if metadata_of(cell).get("task") else ""
            if task:
                found[task] = []
        elif task and (cell.source.strip() or cell.get("attachments")):
            found[task].append(cell)
    return found
