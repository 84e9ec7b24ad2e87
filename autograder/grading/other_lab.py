"""Recognises the notebook of another lab of the course, handed in by mistake, by the names of its cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import nbformat

from autograder.course import Course
from autograder.errors import CourseError
from autograder.notebook import grade_id_of

__all__ = ["cells_of_others", "lab_of"]


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


def lab_of(notebook: nbformat.NotebookNode, own: Collection[str], others: Mapping[str, frozenset[str]]) -> str:
    """Return the lab whose notebook this is rather than the one it was handed in for; nothing if it may be that one.

    own: the grade_ids of that one. It is another's if it has most of the other's cells, and fewer of its own.
    """
    names = {name for cell in notebook.cells if isinstance(name := grade_id_of(cell), str)}
    if 2 * len(names & set(own)) >= len(set(own)):
        return ""
    most = max(others, key=lambda lab: len(names & others[lab]), default="")
    if not most or 2 * len(names & others[most]) <= len(others[most]):
        return ""
    return most if len(names & others[most]) > len(names & set(own)) else ""
