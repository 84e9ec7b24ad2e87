"""Tells which points given by hand still stand after another run, and which a person has to look at again.

nbgrader asks for another look at all of them. Here a written answer is the same if its text is, and its pasted
pictures; one in code, or points in place of a test's, if all code of the student's is, and what the test gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat

from autograder.course import Course, StoredCell
from autograder.errors import SubmissionError, counted
from autograder.model import CellSpec
from autograder.notebook import below_tasks, grade_id_of
from autograder.submission.repair import parse, read

__all__ = ["GivenBefore"]

_Answer = tuple[str, Any]
_CODE = ""


@dataclass(frozen=True)
class GivenBefore:
    """The points by hand of one submission, and what stood in the cells that they were given for."""

    cells: Mapping[str, StoredCell]
    """By notebook/grade_id."""
    answers: Mapping[str, Mapping[str, _Answer]]
    """Of each notebook the written answers by grade_id, what stands below each task that has no cell of its own to
    answer in, and all code of the student's under one name."""

    @classmethod
    def of(cls, course: Course, lab: str, student: str, rows: Mapping[str, Sequence[CellSpec]]) -> GivenBefore:
        """Read them from the gradebook and from autograded/, before another run is stored there."""
        found = course.cells(lab, student).get(student, [])
        given = {cell.key: cell for cell in found if cell.manual_score is not None or cell.extra_credit}
        answers = {}
        for name in {cell.notebook for cell in given.values()} & rows.keys():
            path = course.autograded(student, lab) / f"{name}.ipynb"
            try:
                answers[name] = _answers(parse(read(path), path.name)[0], rows[name])
            except (SubmissionError, OSError):  # it is gone, or nobody knows what it was
                continue
        return cls(given, answers)

    def settle(
        self,
        course: Course,
        lab: str,
        student: str,
        rows: Mapping[str, Sequence[CellSpec]],
        notebooks: Mapping[str, nbformat.NotebookNode],
    ) -> list[str]:
        """Take nbgrader's question back where nothing has changed; return a line for each cell where something has.

        A question that was open before stays open.
        """
        if not self.cells:
            return []
        now = {cell.key: cell for cell in course.cells(lab, student).get(student, [])}
        answers = {name: _answers(notebook, rows[name]) for name, notebook in notebooks.items() if name in rows}
        standing, asked, lines = [], [], []
        for key, cell in self.cells.items():
            if key not in now:
                continue
            if not cell.to_grade and self._same(cell, now[key], answers.get(cell.notebook)):
                standing.append(key)
            else:
                name = key if len(rows) > 1 else cell.grade_id
                what = "answer or its test" if self._answered_alike(cell, answers.get(cell.notebook)) else "answer"
                lines.append(f"{name}: {_given(cell)} by hand before the {what} was changed: look at it again")
                asked.append(key)
        course.needs_a_look(lab, student, standing, False)
        course.needs_a_look(lab, student, asked, True)
        return lines

    def _same(self, before: StoredCell, now: StoredCell, answers: Mapping[str, _Answer] | None) -> bool:
        """Whether a person would give the same points again: the same answer, and in code the same from the test."""
        alike = before.cell_type == now.cell_type and self._answered_alike(before, answers)
        return alike and (before.cell_type == "markdown" or before.auto_score == now.auto_score)

    def _answered_alike(self, before: StoredCell, answers: Mapping[str, _Answer] | None) -> bool:
        """Whether the answer is what it was then; False where that is not known."""
        then = self.answers.get(before.notebook)
        if then is None or answers is None:
            return False
        if before.cell_type == "markdown":
            return before.grade_id in then and then[before.grade_id] == answers.get(before.grade_id)
        return then[_CODE] == answers[_CODE]


def _answers(notebook: nbformat.NotebookNode, rows: Sequence[CellSpec]) -> dict[str, _Answer]:
    locked = {row.grade_id for row in rows if row.locked}
    written = {row.grade_id for row in rows if row.cell_type == "markdown"} - locked
    found: dict[str, _Answer] = {
        name: (cell.source.strip(), cell.get("attachments") or {})
        for cell in notebook.cells
        if (name := grade_id_of(cell)) in written
    }
    for task, added in below_tasks(notebook.cells, {row.grade_id for row in rows}).items():
        texts, pictures = [cell.source.strip() for cell in added], [cell.get("attachments") or {} for cell in added]
        found[task] = "\n\n".join(texts), pictures
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and grade_id_of(cell) not in locked]
    return found | {_CODE: ("\n\n".join(cell.source.strip() for cell in code), {})}


def _given(cell: StoredCell) -> str:
    points = [counted(cell.manual_score, "point")] if cell.manual_score is not None else []
    return " and ".join([*points, *([f"{cell.extra_credit:g} extra"] if cell.extra_credit else [])]) + " given"
