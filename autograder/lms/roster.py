"""Who is who: the people of an export of Canvas, Moodle or Gradescope, and the students of the gradebook."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from autograder.course import Student
from autograder.errors import CourseError
from autograder.lms.table import Table, read_table

__all__ = ["Person", "Roster", "name_key", "read_roster"]

_T = TypeVar("_T")
_IDS = ("SIS Login ID", "SIS User ID", "SID", "ID number", "Username", "student_id", "Integration ID")
_EMAILS = ("Email address", "Email", "E-mail")
_NAMES = ("Student", "Full name", "Name", "Student name")
_LAST, _FIRST = ("LastName", "Last name", "last_name", "Surname"), ("FirstName", "First name", "first_name")


@dataclass(frozen=True)
class Person:
    """One row of a roster, or one student of the gradebook."""

    ids: tuple[str, ...]
    """Login, registration number and the like, the one that is best to use first."""
    number: str = ""
    """What the system calls the person in file names: Canvas's user, Moodle's participant, Gradescope's submission."""
    email: str = ""
    names: tuple[str, ...] = ()
    row: int = -1
    """Of the roster's rows, from 0."""

    @property
    def addresses(self) -> list[str]:
        """The e-mail addresses; many a login is one."""
        return list(dict.fromkeys(value for value in (self.email, *self.ids) if "@" in value))


class Roster:
    """The people of an exported file, matched with the gradebook's students."""

    def __init__(self, people: Sequence[Person], students: Sequence[Student], table: Table | None = None) -> None:
        self.people = people
        self.table = table
        self._students = {student.id for student in students}
        self._by_id = _unique((_fold(student.id), student.id) for student in students)
        self._by_email = _unique((_fold(s.email), s.id) for s in students if s.email)
        self._by_name = _unique((key, s.id) for s in students for key in _keys(_names_of(s)))
        self._by_user = _unique((_fold(email).split("@")[0], _fold(email)) for p in people for email in p.addresses)
        self._row_by_number = {person.number: person for person in people if person.number}
        self._row_by_name = _unique((key, person) for person in people for key in _keys(person.names))

    @property
    def known(self) -> bool:
        """Whether the gradebook knows any student: then only they are students."""
        return bool(self._students)

    def student(self, person: Person) -> str:
        """Return the gradebook's id of this person; empty if there is none.

        By id, by e-mail address, and, as many gradebooks hold neither names nor addresses, by the part of an address
        before the @ if it is a student's id and nobody else's address begins with it.
        """
        for own in (*person.ids, *person.addresses):
            if own in self._students:
                return own
            if found := self._by_id.get(_fold(own)):
                return found
        for email in person.addresses:
            if found := self._by_email.get(_fold(email)):
                return found
        users = [_fold(email).split("@")[0] for email in person.addresses]
        return next((self._by_id[user] for user in users if user in self._by_user and user in self._by_id), "")

    def named(self, name: str) -> str:
        """Return the id of the one student of this name, in either order; empty if there is none, or more than one."""
        found = {self._by_name[key] for key in _keys((name,)) if key in self._by_name}
        return found.pop() if len(found) == 1 else ""

    def is_student(self, own: str) -> bool:
        return own in self._students

    def by_number(self, number: str) -> Person | None:
        """Return the person whom the system calls by this number."""
        return self._row_by_number.get(number)

    def by_name(self, name: str) -> Person | None:
        """Return the one person of this name, however it is written and in either order."""
        return next((self._row_by_name[key] for key in _keys((name,)) if key in self._row_by_name), None)


def read_roster(path: Path | None, students: Sequence[Student]) -> Roster:
    """Read an exported CSV file of Canvas, Moodle, Gradescope or nbgrader; without one, only the gradebook is known."""
    if path is None:
        return Roster([], students)
    table = read_table(path)
    ids = [table.column(name) for name in _IDS if table.column(name) >= 0]
    email, full = table.column(*_EMAILS), table.column(*_NAMES)
    last, first = table.column(*_LAST), table.column(*_FIRST)
    number = table.column("ID", "Identifier", "Submission ID")
    if not ids and min(email, full) < 0 and number < 0:
        raise CourseError(
            f"{path}: no column says who is who (there: {', '.join(table.header)[:200]})",
            hint="give a gradebook exported from Canvas, a grading worksheet from Moodle, or grades from Gradescope",
        )
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
    return Roster(people, students, table)


def name_key(name: str) -> str:
    """Return a name without case, accents, order or punctuation: "Lovelace, Ada" and "ada lovelace" are one."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    words = re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c)).replace("_", " "))
    return " ".join(sorted(words))


def _keys(names: Iterable[str]) -> list[str]:
    """Return what names are compared by; in Canvas's file names "Lovelace, Ada" is "lovelaceada"."""
    keys = [key for name in names for key in (name_key(name), _joined(name))]
    return [key for key in dict.fromkeys(keys) if key]


def _joined(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


def _names_of(student: Student) -> tuple[str, ...]:
    if not (student.last_name and student.first_name):
        return tuple(filter(None, (student.last_name, student.first_name)))
    return f"{student.first_name} {student.last_name}", f"{student.last_name}, {student.first_name}"


def _is_person(row: Sequence[str], names: Sequence[str]) -> bool:
    """Whether it is none of the rows that Canvas puts below its header, nor its test student."""
    first = row[0].strip().casefold()
    special = "points possible" in first or first.startswith("manual posting") or first in {"student, test", "muted"}
    return not special and any(field.strip() for field in row[:5]) and (any(map(str.strip, names)) or bool(first))


def _fold(value: str) -> str:
    return unicodedata.normalize("NFC", value.strip()).casefold()


def _unique(pairs: Iterable[tuple[str, _T]]) -> dict[str, _T]:
    """Return the keys that stand for one thing only."""
    found: defaultdict[str, list[_T]] = defaultdict(list)
    for key, value in pairs:
        if value not in found[key]:
            found[key].append(value)
    return {key: values[0] for key, values in found.items() if len(values) == 1}
