"""Reads who is in an exported file: its columns, as Canvas, Moodle, Gradescope and nbgrader call them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.course import Student
from autograder.errors import CourseError
from autograder.lms.roster import Person, Roster
from autograder.lms.table import read_table

__all__ = ["FIRST", "LAST", "read_roster"]

_IDS = ("SIS Login ID", "SIS User ID", "SID", "ID number", "Username", "student_id", "Integration ID")
_EMAILS = ("Email address", "Email", "E-mail")
_NAMES = ("Student", "Full name", "Name", "Student name")
LAST, FIRST = ("LastName", "Last name", "last_name", "Surname"), ("FirstName", "First name", "first_name")
_EXPECTED = (
    "give a grading worksheet from Moodle, downloaded in English (Identifier, Full name, Email address), a gradebook"
    " exported from Canvas (Student, ID, SIS Login ID), or grades from Gradescope (Name, SID, Email)"
)


def read_roster(
    path: Path | None, students: Sequence[Student], before: Sequence[Student] = (), *, tells_new: bool = False
) -> Roster:
    """Read an exported CSV file of Canvas, Moodle, Gradescope or nbgrader; without one, only the gradebook is known.

    before, tells_new: see `Roster`.
    """
    if path is None:
        return Roster([], students, None, before, tells_new=tells_new)
    table = read_table(path)
    ids = [table.column(name) for name in _IDS if table.column(name) >= 0]
    email, full = table.column(*_EMAILS), table.column(*_NAMES)
    last, first = table.column(*LAST), table.column(*FIRST)
    number = table.column("ID", "Identifier", "Submission ID")
    named = max(full, min(last, first)) >= 0
    if not ids and (not (email >= 0 or named) or (number < 0 and not (email >= 0 and full >= 0))):
        raise CourseError(f"{path}: no column says who is who (there: {', '.join(table.header)[:200]})", hint=_EXPECTED)
    people = []
    for place, row in enumerate(table.rows):
        names = [row[full]] if full >= 0 else []
        if last >= 0 and first >= 0:
            names.append(f"{row[first]} {row[last]}")
        if _is_person(row, names):
            own = tuple(dict.fromkeys(row[i].strip() for i in ids if row[i].strip()))
            digits = re.sub(r"^\D+", "", row[number].strip()) if number >= 0 else ""  # Moodle: "Participant 1234"
            address = row[email].strip() if email >= 0 else ""
            people.append(Person(own, digits, address, tuple(filter(str.strip, names)), place))
    return Roster(people, students, table, before, tells_new=tells_new)


def _is_person(row: Sequence[str], names: Sequence[str]) -> bool:
    """Whether it is none of the rows that Canvas puts below its header, nor its test student."""
    first = row[0].strip().casefold()
    special = "points possible" in first or first.startswith("manual posting") or first in {"student, test", "muted"}
    return not special and any(field.strip() for field in row[:5]) and (any(map(str.strip, names)) or bool(first))
