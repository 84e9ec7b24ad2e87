"""What nbgrader's gradebook holds of submissions: their grades, comments, and what decides how late they are."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.orm import selectinload

from autograder.course.gradebook import number
from autograder.errors import CourseError
from autograder.model import GradebookEntry

__all__ = [
    "Lateness",
    "StoredCell",
    "absent",
    "commented",
    "forget_time",
    "give_nothing",
    "lateness",
    "needs_a_look",
    "recorded_labs",
    "stored",
    "stored_cells",
    "submission",
    "submissions",
]


@dataclass(frozen=True)
class StoredCell:
    """One graded cell of one submission as the database holds it."""

    notebook: str
    grade_id: str
    auto_score: float | None
    manual_score: float | None
    extra_credit: float | None
    max_score: float
    cell_type: str = ""
    """What nbgrader counts it as: code or markdown; empty if it does not say."""
    to_grade: bool | None = None
    """Whether formgrader asks a person to grade it; None if that is not known."""

    @property
    def key(self) -> str:
        return f"{self.notebook}/{self.grade_id}"


@dataclass(frozen=True)
class Lateness:
    """What decides how late a submission is, and what was taken off for it.

    Attributes:
        handed_in, due: times as the gradebook writes them; empty if it knows none. `due` is that of all students.
        extension_s: by how many seconds this student's due date is put off.
    """

    handed_in: str = ""
    due: str = ""
    extension_s: float = 0.0
    penalty: float = 0.0


def stored_cells(book: Gradebook, lab: str, student: str | None = None) -> dict[str, list[StoredCell]]:
    """Return what the database holds of each student's cells, or of one's; nothing is computed, nothing is made.

    What somebody has changed by hand may refer to rows that are not there: it is returned like the rest.
    """
    found: dict[str, list[StoredCell]] = {}
    for submitted in submissions(book, lab, student):
        cells = [_stored_cell(_notebook_name(n), grade) for n in submitted.notebooks for grade in n.grades]
        found.setdefault(_whose(submitted), []).extend(cells)
    return found


def needs_a_look(book: Gradebook, lab: str, student: str, keys: Collection[str], whether: bool) -> None:
    """Say of these cells, by notebook/grade_id, whether a person has to look at them."""
    for grade in _grades(book, lab, student, keys):
        grade.needs_manual_grade = whether
    book.db.commit()


def give_nothing(book: Gradebook, lab: str, student: str, keys: Collection[str], waiting: Collection[str]) -> None:
    """Give no points for those of these cells, by notebook/grade_id, that have none yet; points by hand stay.

    waiting: the tasks that a person grades. Where an earlier run had given nothing for one, or nbgrader, which found no
    notebook, that is taken back.
    """
    for grade in _grades(book, lab, student, keys):
        if grade.auto_score is None:
            grade.auto_score, grade.needs_manual_grade = 0.0, grade.manual_score is not None
    for grade in _grades(book, lab, student, waiting):
        if grade.auto_score is not None:
            grade.auto_score, grade.needs_manual_grade = None, grade.manual_score is None
    book.db.commit()


def _grades(book: Gradebook, lab: str, student: str, keys: Collection[str]) -> list[Any]:
    notebooks = [notebook for found in submissions(book, lab, student) for notebook in found.notebooks] if keys else []
    return [g for n in notebooks for g in n.grades if f"{_notebook_name(n)}/{_cell_name(g)}" in keys]


def commented(book: Gradebook, lab: str) -> dict[str, list[str]]:
    """Return the cells on which a person has commented, by student."""
    return {
        _whose(submitted): [_cell_name(c) for n in submitted.notebooks for c in n.comments if c.manual_comment]
        for submitted in submissions(book, lab)
    }


def lateness(book: Gradebook, lab: str, student: str | None = None) -> dict[str, Lateness]:
    """Return what decides how late each submission is, or one student's, by student."""
    return {_whose(submitted): _lateness(submitted) for submitted in submissions(book, lab, student)}


def recorded_labs(book: Gradebook) -> list[str]:
    """Return the labs of which there is a submission, in order."""
    found = {assignment for (assignment,) in book.db.query(SubmittedAssignment.assignment_id)}
    return sorted(assignment.name for assignment in book.assignments if assignment.id in found)


def submissions(book: Gradebook, lab: str | None, student: str | None = None) -> list[Any]:
    """Return the submissions of one lab or of all, by lab and student, with all that belongs to them in few queries."""
    notebooks = selectinload(SubmittedAssignment.notebooks)
    together = (
        selectinload(SubmittedAssignment.student),
        selectinload(SubmittedAssignment.assignment),
        notebooks.selectinload(SubmittedNotebook.notebook),
        notebooks.selectinload(SubmittedNotebook.grades).selectinload(Grade.cell),
        notebooks.selectinload(SubmittedNotebook.comments).selectinload(Comment.cell),
    )
    wanted = [a.id for a in book.assignments if lab in (None, a.name)]
    query = book.db.query(SubmittedAssignment).filter(SubmittedAssignment.assignment_id.in_(wanted)).options(*together)
    if student is not None:
        query = query.filter(SubmittedAssignment.student_id == student)
    try:
        return sorted(query.all(), key=lambda s: (s.assignment.name, _whose(s)))
    except (
        LookupError,
        ValueError,
        TypeError,
    ) as error:  # SQLite keeps a word where a time should be, and SQLAlchemy cannot read it
        raise CourseError(
            f"the gradebook: what it holds of {lab or 'a lab'} cannot be read: {error}",
            hint="somebody has changed it by hand: take the gradebook from a backup",
        ) from error


def _whose(submitted: Any) -> str:
    """Return the student's id, also where the gradebook has no student of this id any more."""
    return str(submitted.student_id)


def _notebook_name(notebook: Any) -> str:
    return (
        str(notebook.notebook.name) if notebook.notebook else f"a notebook that is not there ({notebook.notebook_id})"
    )


def _cell_name(of_cell: Any) -> str:
    return str(of_cell.cell.name) if of_cell.cell else f"a cell that is not there ({of_cell.cell_id})"


def _lateness(submitted: Any) -> Lateness:
    extension = submitted.extension
    return Lateness(
        handed_in=str(submitted.timestamp or ""),
        due=str(submitted.assignment.duedate or ""),
        extension_s=extension.total_seconds() if extension else 0.0,
        penalty=number(submitted.late_submission_penalty or 0.0) or 0.0,
    )


def forget_time(book: Gradebook, lab: str, student: str, known: str) -> None:
    """Take back when a submission was handed in, if that is this time."""
    for submitted in submissions(book, lab, student):
        if str(submitted.timestamp or "") == known:
            submitted.timestamp = None
    book.db.commit()


def submission(book: Gradebook, lab: str, student: str) -> GradebookEntry:
    """Return what the gradebook holds for one submission; CourseError if there is none."""
    try:
        return _stored(book.find_submission(lab, student))
    except MissingEntry:
        raise CourseError(
            f"{student}: no grade for {lab} in the gradebook", hint=f"grade it first: autograder grade {lab}"
        ) from None


def stored(book: Gradebook, lab: str | None) -> list[GradebookEntry]:
    """Return every stored submission, of one lab or of all, by lab and student."""
    return [_stored(submission) for submission in submissions(book, lab)]


def absent(book: Gradebook, lab: str | None) -> list[GradebookEntry]:
    """Return a row without points for each student of whom nothing is stored, as nbgrader's own export has one.

    lab: of one lab or of all that the gradebook knows.
    """
    query = book.db.query(SubmittedAssignment.assignment_id, SubmittedAssignment.student_id)
    there = {(assignment, student) for assignment, student in query}
    labs = sorted((a for a in book.assignments if lab in (None, a.name)), key=lambda a: str(a.name))
    students = sorted(book.students, key=lambda s: str(s.id))
    return [_absent(a, s) for a in labs for s in students if (a.id, s.id) not in there]


def _absent(assignment: Any, student: Any) -> GradebookEntry:
    return GradebookEntry(
        student=str(student.id),
        last_name=student.last_name or "",
        first_name=student.first_name or "",
        email=student.email or "",
        lab=assignment.name,
        due=str(assignment.duedate or ""),
        handed_in="",
        raw_score=0.0,
        penalty=0.0,
        score=0.0,
        max_score=float(assignment.max_score),
        to_grade=0,
        comments={},
        grades={},
        missing=True,
    )


def _stored_cell(notebook: str, grade: Any) -> StoredCell:
    most = number(getattr(grade.cell, "max_score", None))
    return StoredCell(
        notebook=notebook,
        grade_id=_cell_name(grade),
        auto_score=number(grade.auto_score),
        manual_score=number(grade.manual_score),
        extra_credit=number(grade.extra_credit),
        max_score=math.nan if most is None else most,
        cell_type=str(getattr(grade.cell, "cell_type", None) or ""),
        to_grade=bool(grade.needs_manual_grade),
    )


def _stored(submission: Any) -> GradebookEntry:
    student, assignment = submission.student, submission.assignment  # no student: their id was changed by hand
    return GradebookEntry(
        student=_whose(submission),
        last_name=(student and student.last_name) or "",
        first_name=(student and student.first_name) or "",
        email=(student and student.email) or "",
        lab=assignment.name,
        due=str(assignment.duedate or ""),
        handed_in=str(submission.timestamp or ""),
        raw_score=float(submission.score),
        penalty=float(submission.late_submission_penalty or 0.0),
        score=max(0.0, float(submission.score) - float(submission.late_submission_penalty or 0.0)),
        max_score=float(submission.max_score),
        to_grade=sum(grade.needs_manual_grade for notebook in submission.notebooks for grade in notebook.grades),
        comments={
            f"{_notebook_name(notebook)}/{_cell_name(comment)}": comment.comment
            for notebook in submission.notebooks
            for comment in notebook.comments
            if comment.comment
        },
        grades={
            f"{_notebook_name(notebook)}/{_cell_name(grade)}": float(grade.score)
            for notebook in submission.notebooks
            for grade in notebook.grades
        },
        pending=frozenset(
            f"{_notebook_name(notebook)}/{_cell_name(grade)}"
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.needs_manual_grade and grade.manual_score is None
        ),
        again=frozenset(
            f"{_notebook_name(notebook)}/{_cell_name(grade)}"
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.needs_manual_grade and grade.manual_score is not None
        ),
        extension_s=submission.extension.total_seconds() if submission.extension else 0.0,
    )
