"""Puts locked cells and tests that a student has moved back into the order in which they follow each other."""

from __future__ import annotations

from collections.abc import Sequence

import nbformat

from autograder.model import CellSpec
from autograder.notebook import grade_id_of

__all__ = ["put_in_order"]


def put_in_order(cells: list[nbformat.NotebookNode], rows: Sequence[CellSpec]) -> list[str]:
    """Move each locked cell or test that stands above one which it has to follow below that, in place; say which.

    A test means what those above it have left. The student's own cells stay where they are.
    """
    fixed = [row for row in rows if row.locked or row.automatic]
    places = {grade_id_of(cell): number for number, cell in enumerate(cells)}
    there = [places[row.grade_id] for row in fixed if row.grade_id in places]
    if there == sorted(there):
        return []
    moved: list[str] = []
    below = 0
    for row in fixed:
        at = next((number for number, cell in enumerate(cells) if grade_id_of(cell) == row.grade_id), None)
        if at is None:
            continue
        if at < below:
            cells.insert(below - 1, cells.pop(at))
            moved.append(f"cell {row.grade_id!r} stood above one that it follows: put below it")
        else:
            below = at + 1
    return moved
