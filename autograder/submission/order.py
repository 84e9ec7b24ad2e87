"""Puts locked cells and tests that a student has moved back into the order in which they follow each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import nbformat

from autograder.model import CellSpec
from autograder.notebook import grade_id_of

__all__ = ["put_in_order"]


def put_in_order(cells: list[nbformat.NotebookNode], rows: Sequence[CellSpec]) -> list[str]:
    """Move few locked code cells and tests, in place, so that they stand in the order of the rows; say which.

    A test means what those above it have left. One that is moved goes right above the next that stayed, if none
    follows below all that it follows; but never above the answers that it asks about: then those that follow it go
    down. The student's own cells stay where they are.
    """
    order = {row.grade_id: number for number, row in enumerate(rows)}
    fixed = {row.grade_id for row in rows if row.cell_type == "code" and (row.locked or row.automatic)}
    names = [row.grade_id for row in rows]
    before = [order[name] for name in map(grade_id_of, cells) if name in fixed]
    staying = _longest_rising(before)
    moved = set(before) - set(staying)
    for number in sorted(moved, reverse=True):  # so that the next of two that were moved stands already
        own = cells.pop(_place(cells, names[number]))
        after = [place for place, cell in enumerate(cells) if order.get(grade_id_of(cell), number) > number
                 and grade_id_of(cell) in fixed and order[grade_id_of(cell)] in staying]  # fmt: skip
        above = [place for place, cell in enumerate(cells) if order.get(grade_id_of(cell), number) < number]
        answers = _answers(rows, number)
        asked = [place for place, cell in enumerate(cells) if grade_id_of(cell) in answers]
        cells.insert(max([after[0] if after else max(above, default=-1) + 1, *(place + 1 for place in asked)]), own)
        staying = [*staying, number]
    moved |= _pushed_down(cells, rows, sorted(before))
    said = "stood above or below its place among the others: put there"
    return [f"cell {names[number]!r} {said}" for number in sorted(moved)]


def _answers(rows: Sequence[CellSpec], number: int) -> set[str]:
    """Return the answers between a test and the test before it: those that it asks about."""
    tests = [at for at, row in enumerate(rows[:number]) if row.automatic]
    between = rows[max(tests, default=-1) + 1 : number] if rows[number].automatic else ()
    return {row.grade_id for row in between if row.solution}


def _pushed_down(cells: list[nbformat.NotebookNode], rows: Sequence[CellSpec], numbers: Sequence[int]) -> set[int]:
    """Move what still stands above something that it follows, or above its answers, right below that; return which."""
    moved, lowest = set[int](), -1
    there = {grade_id_of(cell) for cell in cells}
    for number in numbers:
        asked = [_place(cells, answer) for answer in _answers(rows, number) & there]
        place, lowest = _place(cells, rows[number].grade_id), max([lowest, *asked])
        if place < lowest:
            cells.insert(lowest, cells.pop(place))  # what was popped stood above
            moved.add(number)
        else:
            lowest = place
    return moved


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
