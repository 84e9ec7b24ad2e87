"""Lets one process at a time grade in a course."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.course import Course
from autograder.errors import CourseError

__all__ = ["only_run"]

_HELD = threading.local()


@contextmanager
def only_run(course: Course) -> Iterator[None]:
    """Hold a lock that ends with this process, however it ends; raise CourseError while another one holds it.

    Within it, the same thread may take it again: what is to be found out before the first submission is run, such as
    which tests can run apart, is written into the course as well.
    """
    held: set[Path] = _HELD.__dict__.setdefault("paths", set())
    path = course.state / "lock"
    if path in held:
        yield
        return
    course.state.mkdir(exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                f"{path.parent}: another autograder is grading in this course", hint="wait for it, or stop it"
            ) from None
        held.add(path)
        try:
            yield
        finally:
            held.discard(path)
