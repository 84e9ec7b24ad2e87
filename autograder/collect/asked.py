"""Refuses to collect a course into itself, and whom an archive has nothing of though they were asked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from autograder.collect.rows import Row
from autograder.course import Course, refuse_excluded
from autograder.errors import CourseError, listed

__all__ = ["check_asked", "check_source"]

_SAYS = "the same command with --dry-run and without --student says whose each file is taken for, and why"
_ASKED = {True: f"give a --roster FILE in which they stand; {_SAYS}", False: f"is the id right? {_SAYS}"}
"""What to do where somebody who was asked for has nothing there, by whether there are files that are nobody's."""


def check_source(course: Course, source: Path) -> None:
    """Raise CourseError if what is to be collected is the course."""
    if source.resolve() == course.root.resolve():
        raise CourseError(
            f"{source}: the course itself, whose sources are no submissions",
            hint="name the folder or the zip file with what was handed in",
        )


def check_asked(
    source: Path, students: Collection[str], by_student: Collection[str], rest: Sequence[Row], excluded: Collection[str]
) -> None:
    """Raise CourseError if one of the students asked for is left out, or has nothing there.

    rest: what is said of the files that are no student's.
    """
    refuse_excluded(students, excluded)
    if missing := sorted(set(students) - set(by_student)):
        nobodys = [row.file for row in rest if row.lost and not row.student]
        theirs = f"; theirs may be what no student is known for: {listed(nobodys)}" if nobodys else ""
        raise CourseError(
            f"{source}: nothing in it is from {listed(missing)}, as far as ids, addresses and names say{theirs}",
            hint=_ASKED[bool(nobodys)],
        )
