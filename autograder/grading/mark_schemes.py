"""Puts the instructor's own answer, with its rubric, beside each answer that a person grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

import nbformat

from autograder.course import Course, as_mark_scheme, left_to_nbgrader
from autograder.markers import BEGIN_SOLUTION, END_SOLUTION
from autograder.model import CellSpec
from autograder.notebook import PUT_BACK, grade_id_of

__all__ = ["mark_schemes", "put_beside"]


_LOCKED = {
    "grade": False,
    "solution": False,
    "task": False,
    "locked": True,
    "cell_type": "markdown",
    "schema_version": 3,
}
"""As CellSpec.metadata, but for the checksum: nbgrader refuses an empty one."""


def mark_schemes(course: Course, cells: Sequence[nbformat.NotebookNode], rows: Sequence[CellSpec]) -> dict[str, str]:
    """Return, by grade_id, what the instructor's notebook holds where students write what a person grades.

    As a mark scheme of nbgrader's, which formgrader shows. None in a course that has kept nbgrader's own feedback:
    students would read it there.
    """
    if left_to_nbgrader(course.app.config):
        return {}
    by_hand = {row.grade_id: row for row in rows if row.grade and row.solution and not row.automatic}
    found = {}
    for cell in cells:
        row = by_hand.get(grade_id_of(cell))
        lines = [line for line in cell.source.split("\n") if line.strip() not in {BEGIN_SOLUTION, END_SOLUTION}]
        text = "\n".join(lines).strip()
        if row is not None and text and text != row.source.strip():
            shown = text if cell.cell_type == "markdown" else f"~~~~python\n{text}\n~~~~"
            found[row.grade_id] = as_mark_scheme(shown, course.app)
    return found


def put_beside(notebook: nbformat.NotebookNode, schemes: Mapping[str, str]) -> None:
    """Put each mark scheme above its answer in a notebook that was run, in a locked cell of the grader's.

    A cell of the student's that goes by a mark scheme's id gets another one.
    """
    graded = {grade_id_of(cell) for cell in notebook.cells}
    names = {grade_id: f"{grade_id}-mark-scheme" for grade_id in schemes}
    reserved = {name[:64] for name in names.values() if name not in graded}
    taken = {cell.id for cell in notebook.cells} | reserved
    others = (name for number in count(1) if (name := f"students-own-{number}") not in taken)
    cells = []
    for cell in notebook.cells:
        if cell.id in reserved and not grade_id_of(cell):
            cell.id = next(others)
        name = names.get(grade_id_of(cell), "")
        if name and name not in graded:
            about = {"nbgrader": {**_LOCKED, "grade_id": name}, **PUT_BACK}
            text = schemes[grade_id_of(cell)]
            cells.append(nbformat.v4.new_markdown_cell(text, id=name[:64], metadata=about))
        cells.append(cell)
    notebook.cells = cells
