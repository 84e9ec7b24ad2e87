"""What nbgrader's gradebook holds of labs, their cells, and students."""

from __future__ import annotations

import json
import logging
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from autograder.errors import CourseError, did_you_mean, listed
from autograder.markers import canonical
from autograder.model import CellSpec

__all__ = [
    "DISK_FULL",
    "FREE_SPACE",
    "Student",
    "add_lab",
    "beneath",
    "lab_names",
    "lab_rows",
    "language",
    "newest_revision",
    "number",
    "open_gradebook",
    "quiet",
    "roster",
    "students",
    "usable",
]

# nbgrader makes an engine for each access. One for each address keeps the statements that it has compiled: they take
# half of the time that storing a grade takes. A gradebook that is closed gives its connections back either way.
nbgrader.api.create_engine = cache(nbgrader.api.create_engine)


@cache
def newest_revision() -> str:
    """Return which revision of nbgrader's tables a new gradebook has."""
    return ScriptDirectory(ALEMBIC_DIR).get_current_head() or ""


# For a new gradebook nbgrader starts a program that prints this: it takes seconds, and has to be on the PATH.
nbgrader.api.get_alembic_version = newest_revision

DISK_FULL = "disk full"
FREE_SPACE = "free some space and run the command again: what was stored is not lost"
_NOWHERE_ELSE = "points by hand, due dates and extensions stand nowhere else"
_DAMAGED = f"keep a copy of the file aside, and put a backup in its place: {_NOWHERE_ELSE}"
_HINTS = {
    "locked": "another program is writing to it, formgrader perhaps: wait, or stop it, and run the command again",
    "not a database": f"if db_url in nbgrader_config.py names another file, correct it; else {_DAMAGED}",
    "malformed": _DAMAGED,
    "Could not decode": _DAMAGED,
    "readonly": "the file or its directory is read-only: change that, or work on a copy of the course",
    "unable to open": "is its directory there, and may you write to it?",
    "disk full": FREE_SPACE,
    "no such column": "it was made by an older nbgrader; back it up, then: nbgrader db upgrade",
    "no such table": "it was made by an older nbgrader; back it up, then: nbgrader db upgrade",
}


_BY_HAND = "somebody has changed it by hand: take the gradebook from a backup, or release the lab again"

_DRIVER = re.compile(r"^\(\w+\.\w+\) ")
"""What SQLAlchemy puts before the words of the database: the driver's class of the error."""


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
    if not create and isinstance(where, Path) and (not where.exists() or _is_empty(where)):
        raise _missing(where)
    with usable(url), quiet(), Gradebook(url, course_id) as book:
        yield book


def _is_empty(where: Path) -> bool:
    """Whether a file is there with nothing in it, as a full disk may leave it: to SQLite that is a new gradebook."""
    return where.is_file() and not where.stat().st_size


def _missing(where: Path) -> CourseError:
    """Return the error of a gradebook that is not there: not yet, or not any more, as logs of what was graded say."""
    graded = sorted(log.stem for log in (where.parent / ".autograder").glob("*.jsonl") if log.stat().st_size)
    if not graded:
        return CourseError(f"{where}: there is no gradebook yet", hint="release a lab first: autograder release LAB")
    return CourseError(
        f"{where}: the gradebook is gone; {listed(graded)} had been graded",
        hint=f"put a backup there: {_NOWHERE_ELSE}; without one, release and grade again",
    )


@contextmanager
def usable(url: str) -> Iterator[None]:
    """Turn an error of the database into a CourseError that says what to do; nbgrader wraps some in its own."""
    try:
        yield
    except (SQLAlchemyError, InvalidEntry) as error:
        raise _unusable(url, error) from error


def beneath(url: str, error: BaseException | None) -> CourseError | None:
    """Return what an error of the database, of which another one came, means and what to do; None if there is none."""
    while error is not None:
        if isinstance(error, SQLAlchemyError):
            return _unusable(url, error)
        error = error.__cause__ or error.__context__
    return None


def _unusable(url: str, error: Exception) -> CourseError:
    where, cause = place(url), _DRIVER.sub("", str(getattr(error, "orig", None) or error).splitlines()[0])
    cause = DISK_FULL if "disk is full" in cause else cause
    hint = next((hint for words, hint in _HINTS.items() if words in cause), "can nbgrader itself open it?")
    return CourseError(f"{where}: {cause}", hint=hint)


def place(url: str) -> Path | str:
    """Return the file of an SQLite gradebook, or the address of another without its password."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite" and address.database not in (None, "", ":memory:"):
        return Path(str(address.database))
    return address.render_as_string(hide_password=True)


def add_lab(book: Gradebook, lab: str) -> None:
    """Make sure that the gradebook knows a lab of this name."""
    book.update_or_create_assignment(lab)


def due(book: Gradebook, lab: str) -> datetime | None:
    """Return when a lab is due, in UTC; None if it has no due date, or is not there."""
    try:
        found: datetime | None = book.find_assignment(lab).duedate
    except MissingEntry:
        return None
    return found


def lab_names(book: Gradebook) -> list[str]:
    """Return the labs that the gradebook knows, in order."""
    return sorted(assignment.name for assignment in book.assignments)


def lab_rows(book: Gradebook, lab: str, delimiters: tuple[str, str]) -> dict[str, list[CellSpec]]:
    """Return the notebooks of a lab and their cells; raise CourseError if there are none.

    delimiters: where hidden tests begin and end in this course; in what is returned our own markers stand there.
    """
    try:
        notebooks = book.find_assignment(lab).notebooks
    except MissingEntry:
        notebooks = []
    if not notebooks:
        known = lab_names(book)
        meant = did_you_mean(lab, set(known) - {lab})
        raise CourseError(
            f"{lab}: no such lab in the gradebook (there: {', '.join(known) or 'none'})",
            hint=f"{meant}release it first: autograder release {lab}",
        )
    try:
        return {
            notebook.name: [_row(notebook, cell, delimiters) for cell in notebook.source_cells]
            for notebook in notebooks
        }
    except LookupError as error:  # a word that is none of those that a column may hold
        raise CourseError(f"the gradebook: what it holds of {lab} cannot be read: {error}", hint=_BY_HAND) from error


def language(book: Gradebook, lab: str) -> str:
    """Return the language of the first notebook of this lab that is not in Python; empty if there is none."""
    for notebook in book.find_assignment(lab).notebooks:
        try:
            named = str(json.loads(notebook.kernelspec or "{}").get("language") or "python")
        except (ValueError, AttributeError) as error:
            raise CourseError(
                f"{notebook.name}: the gradebook's kernelspec is none: {notebook.kernelspec!r:.60}", hint=_BY_HAND
            ) from error
        if named.lower() != "python":
            return named
    return ""


def roster(book: Gradebook) -> list[str]:
    """Return the students that the gradebook knows, in order."""
    return sorted(student.id for student in book.students)


def students(book: Gradebook) -> list[Student]:
    """Return the students that the gradebook knows, with their names and addresses, in order."""
    found = [Student(s.id, s.last_name or "", s.first_name or "", s.email or "") for s in book.students]
    return sorted(found, key=lambda student: student.id)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep off the screen what nobody here can fix: SQLAlchemy's warnings about nbgrader's autoflush, and tracebacks.

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


def _row(notebook: Any, cell: Any, delimiters: tuple[str, str]) -> CellSpec:
    grade = {c.name: c for c in notebook.grade_cells}.get(cell.name)
    task = {c.name: c for c in notebook.task_cells}.get(cell.name)
    worth = grade or task
    points = number(worth.max_score) if worth else 0.0
    if points is None or math.isnan(points):
        raise CourseError(
            f"{notebook.name}: {cell.name}: the gradebook says that it is worth {worth and worth.max_score!r} points",
            hint=_BY_HAND,
        )
    return CellSpec(
        grade_id=cell.name,
        cell_type=cell.cell_type,
        source=canonical(cell.source, delimiters) if worth else cell.source,
        checksum=cell.checksum or "",
        locked=bool(cell.locked),
        grade=grade is not None,
        solution=any(c.name == cell.name for c in notebook.solution_cells),
        task=task is not None,
        points=points,
    )


def number(value: Any) -> float | None:
    """Return a number of the database, NaN where a hand has put something else."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return math.nan
