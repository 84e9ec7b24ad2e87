"""When a submission was handed in: what a timestamp.txt says, and what counts where it is only known to be late."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from autograder.course import Course, moment
from autograder.errors import CourseError, counted

__all__ = ["LateBy", "said_of"]

_FORMAT = "%Y-%m-%d %H:%M:%S UTC"

_DAY = 86_400
"""Zip files say no time zone, and clocks differ."""


def said_of(content: bytes, changed: Sequence[float]) -> str:
    """Return a note on a timestamp.txt that is taken, and a warning where it cannot be right."""
    taken = "its timestamp.txt is taken for nbgrader's"
    found = moment(content.decode("utf-8", "replace")[:100].strip())
    if found is None:
        return "its timestamp.txt says no time: nobody knows when it was handed in"
    said = found.timestamp()
    if said > time.time() + _DAY:
        return f"{taken}, but has not come yet: have a look"
    if said < max(changed) - _DAY:
        day = datetime.fromtimestamp(max(changed), UTC)
        return f"{taken}, but the notebook was changed after it, on {day:%Y-%m-%d}: have a look"
    return taken


@dataclass(frozen=True)
class LateBy:
    """How late submissions count that a system marks as late without saying when they came; nothing: not late."""

    by: timedelta | None = None
    due: datetime | None = None
    extensions: dict[str, timedelta] = field(default_factory=dict)

    @classmethod
    def of(cls, course: Course, lab: str, by: timedelta | None) -> LateBy:
        """Return what counts in a lab; CourseError if it has no due date to count from."""
        if by is None:
            return cls()
        if (due := course.due(lab)) is None:
            raise CourseError(
                f"{lab}: has no due date, so nothing is late",
                hint="set it in formgrader: Manage Assignments",
            )
        granted = course.lateness(lab).items()
        return cls(by, due, {student: timedelta(seconds=late.extension_s) for student, late in granted})

    def time(self, student: str) -> str:
        """Return when such a submission counts as handed in, in nbgrader's way; empty if nobody has said."""
        if self.by is None or self.due is None:
            return ""
        return f"{self.due + self.extensions.get(student, timedelta()) + self.by:{_FORMAT}}"

    def said(self, student: str, *, keeps: bool = False) -> str:
        """Return a note on such a submission; keeps: what is there stays, with the time that it has."""
        if keeps:
            return "late: what is there keeps the time that it has (--force reckons it again)"
        if self.by is None:
            return "late, and no time is known: no penalty (see --late)"
        extension = self.extensions.get(student, timedelta())
        put_off = f", which an extension has put off by {in_words(extension)}" if extension else ""
        return f"late, and no time is known: counts as {in_words(self.by)} after the due date{put_off}"


def in_words(span: timedelta) -> str:
    """Return a span in the units in which --late takes it."""
    minutes = round(span.total_seconds() / 60)
    for unit, length in (("week", 10_080), ("day", 1440), ("hour", 60)):
        if minutes >= length and minutes % length == 0:
            return counted(minutes // length, unit)
    return counted(minutes, "minute")
