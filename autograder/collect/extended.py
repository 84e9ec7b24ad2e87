"""Tells where Gradescope counts a submission as less late than the gradebook does: an extension was given there only.

Its archive says when something was handed in, and nothing about due dates. Its Download Grades has a column Lateness,
counted from each student's own due date. What decides the penalty is the gradebook: this only says that they differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from autograder.collect.times import in_words
from autograder.course import Course, moment
from autograder.lms import Roster

__all__ = ["Elsewhere"]

_COLUMN = "Lateness (H:M:S)"
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Elsewhere:
    """How late each student is by a roster of Gradescope's, and when their work is due by the gradebook."""

    late: Mapping[str, timedelta] = field(default_factory=dict)
    due: datetime | None = None
    extensions: Mapping[str, timedelta] = field(default_factory=dict)

    @classmethod
    def of(cls, course: Course, lab: str, people: Roster) -> Elsewhere:
        """Read both; nothing is said where the roster has no such column, or the lab no due date."""
        at = people.table.column(_COLUMN) if people.table else -1
        if people.table is None or at < 0 or (due := course.due(lab)) is None:
            return cls()
        rows = ((people.match_row(person).student, people.table.rows[person.row][at]) for person in people.people)
        late = {student: span for student, said in rows if student and (span := _span(said)) is not None}
        granted = {s: timedelta(seconds=found.extension_s) for s, found in course.lateness(lab).items()}
        return cls(late, due.replace(tzinfo=UTC), granted)

    def said(self, student: str, time: str) -> str:
        """Return a note on a submission handed in at this time, if it is later here than there; empty if not."""
        handed_in = moment(time)
        if self.due is None or handed_in is None or student not in self.late:
            return ""
        here = max(timedelta(), handed_in - self.due - self.extensions.get(student, timedelta()))
        there = self.late[student]
        if here - there <= _MINUTE:
            return ""
        words = f"{in_words(there)} late" if there >= _MINUTE else "in time"
        return f"{in_words(here)} late by the gradebook, {words} by Gradescope: grant an extension here, too?"


def _span(said: str) -> timedelta | None:
    found = re.fullmatch(r"(\d{1,6}):(\d\d):(\d\d)", said.strip())
    return timedelta(hours=int(found[1]), minutes=int(found[2]), seconds=int(found[3])) if found else None
