"""One transaction for all that nbgrader stores of a submission.

nbgrader opens its gradebook ten times for a submission, looks each time whether all tables are there, and commits
after each row: a grader that stops between two of them leaves half a submission, and every commit waits for the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from nbgrader.api import Gradebook
from sqlalchemy import Connection
from sqlalchemy.orm import scoped_session, sessionmaker

from autograder.course.directory import Course
from autograder.course.gradebook import open_gradebook

__all__ = ["one_transaction"]


@dataclass(frozen=True)
class _Held:
    url: str
    connection: Connection


_held: ContextVar[_Held | None] = ContextVar("held", default=None)
"""What gradebooks opened here share: in this thread, and in no other."""


@contextmanager
def one_transaction(course: Course) -> Iterator[None]:
    """Store all that is stored within, or nothing of it; whoever opens the gradebook within sees what is stored so far.

    Raises CourseError as the gradebook's other methods do. Within another one it is part of that.
    """
    url = course.directory.db_url
    if _held.get() is not None:
        yield
        return
    with open_gradebook(url, course.directory.course_id) as book, book.engine.begin() as connection:
        token = _held.set(_Held(url, connection))
        try:
            yield
        finally:
            _held.reset(token)


_open = Gradebook.__init__


def _shared(book: Gradebook, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
    """Open a gradebook as nbgrader does, or on the connection that is held: its commits wait for that one's."""
    held = _held.get()
    if held is None or held.url != db_url:
        _open(book, db_url, course_id, authenticator)
        return
    book.engine = held.connection.engine
    book.db = scoped_session(sessionmaker(autoflush=True, bind=held.connection, future=True))
    book.course_id, book.authenticator = course_id, authenticator


Gradebook.__init__ = _shared
