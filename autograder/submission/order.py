"""Puts locked cells and tests that a student has moved back into the order in which they follow each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import nbformat

from autograder.model import CellSpec
from autograder.notebook import grade_id_of

__all__ = ["put_in_order"]


def put_in_order(cells: list[nbformat.NotebookNode], rows: Sequence[CellSpec]) -> list[str]:
    """Move the fewest locked code cells and tests, in place, so that they stand in the order of the rows; say which.

    A test means what those above it have left. One that is moved goes right above the next that stayed; if none
    follows, below all that it follows, answers too. The student's own cells stay where they are.
    """
    order = {row.grade_id: number for number, row in enumerate(rows)}
    fixed = {row.grade_id for row in rows if row.cell_type == "code" and (row.locked or row.automatic)}
    there = [order[name] for name in map(grade_id_of, cells) if name in fixed]
    staying = _longest_rising(there)
    moved = sorted(set(there) - set(staying))
    names = [row.grade_id for row in rows]
    for number in reversed(moved):  # so that the next of two that were moved stands already
        own = cells.pop(_place(cells, names[number]))
        after = [place for place, cell in enumerate(cells) if order.get(grade_id_of(cell), number) > number
                 and grade_id_of(cell) in fixed and order[grade_id_of(cell)] in staying]  # fmt: skip
        before = [place for place, cell in enumerate(cells) if order.get(grade_id_of(cell), number) < number]
        cells.insert(after[0] if after else max(before, default=-1) + 1, own)
        staying = [*staying, number]
    return [f"cell {names[number]!r} stood above or below its place among the others: put there" for number in moved]


def _place(cells: Sequence[nbformat.NotebookNode], name: str) -> int:
    return next(place for place, cell in enumerate(cells) if grade_id_of(cell) == name)


def _longest_rising(numbers: Sequence[int]) -> list[int]:
    """Return a longest run of numbers, not necessarily side by side, in which each is larger than the one before."""
    ends: list[int] = []
    runs: dict[int, list[int]] = {}
    for number in numbers:
        place = bisect_left(ends, number)
        runs[number] = [*(runs[ends[place - 1]] if place else []), number]
        ends[place : place + 1] = [number]
    return runs[ends[-1]] if ends else []
