"""What nbgrader's gradebook holds: labs and their cells, submissions and their grades."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbgrader.api
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from sqlalchemy.orm import selectinload

from autograder.errors import CourseError
from autograder.model import SourceCellRow, Stored

__all__ = [
    "StoredCell",
    "Student",
    "add_lab",
    "commented",
    "lab_names",
    "lab_rows",
    "language",
    "open_gradebook",
    "quiet",
    "roster",
    "stored",
    "stored_cells",
    "students",
    "submission",
]

# nbgrader makes an engine for each access. One for each address keeps the statements that it has compiled: they take
# half of the time that storing a grade takes. A gradebook that is closed gives its connections back either way.
nbgrader.api.create_engine = cache(nbgrader.api.create_engine)

_HINTS = {
    "locked": "another program is writing to it, formgrader perhaps: wait, or stop it, and run the command again",
    "not a database": "move the file away, or correct db_url in nbgrader_config.py",
    "readonly": "the file or its directory is read-only: change that, or work on a copy of the course",
    "unable to open": "is its directory there, and may you write to it?",
    "disk is full": "free some space and run the command again: what was stored is not lost",
    "no such column": "it was made by an older nbgrader; back it up, then: nbgrader db upgrade",
    "no such table": "it was made by an older nbgrader; back it up, then: nbgrader db upgrade",
}


@dataclass(frozen=True)
class StoredCell:
    """One graded cell of one submission as the database holds it."""

    notebook: str
    grade_id: str
    auto_score: float | None
    manual_score: float | None
    extra_credit: float | None
    max_score: float

    @property
    def key(self) -> str:
        return f"{self.notebook}/{self.grade_id}"


@dataclass(frozen=True)
class Student:
    """One student as the gradebook knows them."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""


@contextmanager
def open_gradebook(url: str, course_id: str, *, create: bool = False) -> Iterator[Gradebook]:
    """Open the gradebook; raise CourseError if it cannot be used, or is not there and not to be made."""
    where = place(url)
    if not create and isinstance(where, Path) and not where.exists():
        raise CourseError(f"{where}: there is no gradebook yet", hint="release a lab first: autograder release LAB")
    try:
        with quiet(), Gradebook(url, course_id) as book:
            yield book
    except SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        hint = next((hint for words, hint in _HINTS.items() if words in cause), "can nbgrader itself open it?")
        raise CourseError(f"{where}: {cause}", hint=hint) from error


def place(url: str) -> Path | str:
    """Return the file of an SQLite gradebook, or the address of another without its password."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite" and address.database not in (None, "", ":memory:"):
        return Path(str(address.database))
    return address.render_as_string(hide_password=True)


def add_lab(book: Gradebook, lab: str) -> None:
    """Make sure that the gradebook knows a lab of this name."""
    book.update_or_create_assignment(lab)


def lab_names(book: Gradebook) -> list[str]:
    """Return the labs that the gradebook knows, in order."""
    return sorted(assignment.name for assignment in book.assignments)


def lab_rows(book: Gradebook, lab: str) -> dict[str, list[SourceCellRow]]:
    """Return the notebooks of a lab and their cells; raise CourseError if there are none."""
    try:
        notebooks = book.find_assignment(lab).notebooks
    except MissingEntry:
        notebooks = []
    if not notebooks:
        known = ", ".join(lab_names(book)) or "none"
        raise CourseError(
            f"{lab}: no such lab in the gradebook (there: {known})", hint=f"release it first: autograder release {lab}"
        )
    return {notebook.name: [_row(notebook, cell) for cell in notebook.source_cells] for notebook in notebooks}


def language(book: Gradebook, lab: str) -> str:
    """Return the language of the first notebook of this lab that is not in Python; empty if there is none."""
    for notebook in book.find_assignment(lab).notebooks:
        named = json.loads(notebook.kernelspec or "{}").get("language") or "python"
        if named.lower() != "python":
            return str(named)
    return ""


def roster(book: Gradebook) -> list[str]:
    """Return the students that the gradebook knows, in order."""
    return sorted(student.id for student in book.students)


def students(book: Gradebook) -> list[Student]:
    """Return the students that the gradebook knows, with their names and addresses, in order."""
    found = [Student(s.id, s.last_name or "", s.first_name or "", s.email or "") for s in book.students]
    return sorted(found, key=lambda student: student.id)


def stored_cells(book: Gradebook, lab: str) -> dict[str, list[StoredCell]]:
    """Return what the database holds of each student's cells; nothing is computed, nothing is made."""
    return {
        submission.student.id: [
            _stored_cell(notebook.name, grade) for notebook in submission.notebooks for grade in notebook.grades
        ]
        for submission in _submissions(book, lab)
    }


def commented(book: Gradebook, lab: str) -> dict[str, list[str]]:
    """Return the cells on which a person has commented, by student."""
    return {
        submission.student.id: [c.cell.name for n in submission.notebooks for c in n.comments if c.manual_comment]
        for submission in _submissions(book, lab)
    }


def _submissions(book: Gradebook, lab: str | None) -> list[Any]:
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
    return sorted(query.all(), key=lambda s: (s.assignment.name, s.student.id))


def submission(book: Gradebook, lab: str, student: str) -> Stored:
    """Return what the gradebook holds for one submission; CourseError if there is none."""
    try:
        return _stored(book.find_submission(lab, student))
    except MissingEntry:
        raise CourseError(
            f"{student}: no grade for {lab} in the gradebook", hint=f"grade it first: autograder grade {lab}"
        ) from None


def stored(book: Gradebook, lab: str | None) -> list[Stored]:
    """Return every stored submission, of one lab or of all, by lab and student."""
    return [_stored(submission) for submission in _submissions(book, lab)]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep off the screen what nobody here can mend: SQLAlchemy's warnings about nbgrader's autoflush, and tracebacks.

    nbgrader logs a traceback for each error of the database, which is raised as well.
    """
    log = logging.getLogger("tornado.application")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        log.disabled, before = True, log.disabled
        try:
            yield
        finally:
            log.disabled = before


def _row(notebook: Any, cell: Any) -> SourceCellRow:
    grade = {c.name: c for c in notebook.grade_cells}.get(cell.name)
    task = {c.name: c for c in notebook.task_cells}.get(cell.name)
    worth = grade or task
    return SourceCellRow(
        grade_id=cell.name,
        cell_type=cell.cell_type,
        source=cell.source,
        checksum=cell.checksum or "",
        locked=bool(cell.locked),
        grade=grade is not None,
        solution=any(c.name == cell.name for c in notebook.solution_cells),
        task=task is not None,
        points=float(worth.max_score) if worth else 0.0,
    )


def _stored_cell(notebook: str, grade: Any) -> StoredCell:
    return StoredCell(
        notebook=notebook,
        grade_id=grade.cell.name,
        auto_score=None if grade.auto_score is None else float(grade.auto_score),
        manual_score=None if grade.manual_score is None else float(grade.manual_score),
        extra_credit=None if grade.extra_credit is None else float(grade.extra_credit),
        max_score=float(grade.cell.max_score),
    )


def _stored(submission: Any) -> Stored:
    student, assignment = submission.student, submission.assignment
    return Stored(
        student=student.id,
        last_name=student.last_name or "",
        first_name=student.first_name or "",
        email=student.email or "",
        lab=assignment.name,
        due=str(assignment.duedate or ""),
        handed_in=str(submission.timestamp or ""),
        raw_score=float(submission.score),
        penalty=float(submission.late_submission_penalty or 0.0),
        score=max(0.0, float(submission.score) - float(submission.late_submission_penalty or 0.0)),
        max_score=float(submission.max_score),
        to_grade=sum(grade.needs_manual_grade for notebook in submission.notebooks for grade in notebook.grades),
        comments={
            f"{notebook.name}/{comment.cell.name}": comment.comment
            for notebook in submission.notebooks
            for comment in notebook.comments
            if comment.comment
        },
        grades={
            f"{notebook.name}/{grade.cell.name}": float(grade.score)
            for notebook in submission.notebooks
            for grade in notebook.grades
        },
        pending=frozenset(
            f"{notebook.name}/{grade.cell.name}"
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.needs_manual_grade and grade.manual_score is None
        ),
    )
