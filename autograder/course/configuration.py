"""What nbgrader_config.py says, in words for a person: what is wrong with it, and where the gradebook is."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from autograder.errors import CourseError, listed

__all__ = ["CONFIG", "absolute", "complaint", "excluded_ids", "inside", "refuse_excluded"]

CONFIG = "nbgrader_config.py"


def complaint(root: Path, error: BaseException) -> str:
    """Say what is wrong with the configuration, and in which line."""
    where, line = str(root / CONFIG), 0
    if isinstance(error, SyntaxError) and error.filename:
        where, line = error.filename, error.lineno or 0
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename.endswith("_config.py"):
                where, line = frame.filename, frame.lineno or 0
    return f"{where}{f':{line}' if line else ''}: {type(error).__name__}: {error}"


def absolute(db_url: str, root: Path) -> str:
    """Return the address of the gradebook; a relative path in it starts from the course's directory."""
    try:
        address = make_url(db_url)
    except ArgumentError as error:
        raise CourseError(
            f"{db_url}: not the address of a database", hint=f"correct c.CourseDirectory.db_url in {CONFIG}"
        ) from error
    file = address.database or ""
    if address.get_backend_name() == "sqlite" and file and not file.startswith((":memory:", "file:")):
        return address.set(database=str(root / file)).render_as_string(hide_password=False)
    return db_url


def excluded_ids(setting: str | None) -> set[str]:
    """Return whom student_id_exclude names, with or without blanks around the commas, which nbgrader takes as names."""
    return set(filter(None, map(str.strip, (setting or "").split(","))))


def refuse_excluded(students: Iterable[str], excluded: Collection[str]) -> None:
    """Raise CourseError if the configuration leaves out one of the students that a command is asked for."""
    if left := sorted(set(students) & set(excluded)):
        raise CourseError(
            f"{listed(left)}: left out by c.CourseDirectory.student_id_exclude in {CONFIG}",
            hint="take the id out of that line, or do not ask for it",
        )


@contextmanager
def inside(root: Path) -> Iterator[None]:
    """Work as nbgrader does, from the course's directory: it looks there for its configuration and its plugins."""
    before, path = Path.cwd(), sys.path.copy()
    os.chdir(root)
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
