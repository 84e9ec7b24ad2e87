"""Says why a notebook that can be read is not one of this lab: another lab's, handed in by mistake, or no lab's."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import nbformat

from autograder.course import Course
from autograder.errors import CourseError, counted
from autograder.notebook import grade_id_of, metadata_of

__all__ = ["ANOTHER_LAB", "NO_METADATA", "cells_of_others", "unfit"]

_MANY = 2
"""Of so many cells that no cell of the lab is, a student's slip with one copied cell is not the cause."""

ANOTHER_LAB = "this is the notebook of"
"""How it begins what is said of another lab's notebook."""
NO_METADATA = "no cell has nbgrader's metadata: another program may have saved the file"


def unfit(notebook: nbformat.NotebookNode, own: Collection[str], others: Mapping[str, frozenset[str]]) -> str:
    """Return why this notebook is not run as one of the lab that it was handed in for; nothing if it may be one.

    own: the grade_ids of that one; others: those of each other lab of the course.
    """
    if notebook.cells and not any(map(metadata_of, notebook.cells)):
        return NO_METADATA
    names = {name for cell in notebook.cells if (name := grade_id_of(cell))}
    if 2 * len(names & set(own)) >= len(set(own)):
        return ""
    if other := _lab_of(names, own, others):
        return f"{ANOTHER_LAB} {other}"
    known, unknown = len(names & set(own)), len(names - set(own))
    if unknown >= _MANY and unknown > known:  # of a lab that was not released here, or of another course
        return f"{ANOTHER_LAB} another lab: of its {counted(len(names), 'named cell')} {known} are this lab's"
    return ""


def cells_of_others(course: Course, lab: str) -> dict[str, frozenset[str]]:
    """Return the grade_ids of each other lab that was released."""
    found = {}
    for other in course.labs():
        try:
            rows = course.notebooks(other) if other != lab else {}
        except CourseError:  # it was not released, or is not in Python
            continue
        if names := frozenset(row.grade_id for cells in rows.values() for row in cells):
            found[other] = names
    return found


def _lab_of(names: set[str], own: Collection[str], others: Mapping[str, frozenset[str]]) -> str:
    """Return the lab that has these cells rather than the one they were handed in for; nothing if it may be that one.

    own: the grade_ids of that one. It is another's if it has most of the other's cells, and fewer of its own.
    """
    most = max(others, key=lambda lab: len(names & others[lab]), default="")
    if not most or 2 * len(names & others[most]) <= len(others[most]):
        return ""
    return most if len(names & others[most]) > len(names & set(own)) else ""
