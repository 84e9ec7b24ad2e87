"""Whom earlier collects of a course have placed: the gradebook hears of them when they are graded, a roster never.

Before the first `grade` the gradebook is empty, and Canvas's ids and Moodle's addresses would be two classes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from autograder.collect.lms_names import Owner, Piece
from autograder.collect.rows import Row
from autograder.course import Course, Student
from autograder.errors import CourseError, counted, listed
from autograder.files import write_whole
from autograder.lms import Person, Roster

__all__ = ["Before"]

_KINDS = ("emails", "names")
_MOST = 20
"""So many names and addresses of one student are kept."""
_HINTS = {
    True: "choose the ids that stay, and give the gradebook the addresses of the others (docs/instructors.md, two ids);"
    " --force collects all of them under these ids, too",
    False: "give the --roster FILE that was given then; --force collects all of them under these ids, too",
}
"""What to do, by whether a roster is given now."""


@dataclass(frozen=True)
class Before:
    """The students of earlier collects, and what their rosters said of them."""

    path: Path
    students: Sequence[Student] = ()
    """One for each address or name of each."""
    others: bool = False
    """Whether another lab has been collected."""
    said: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    """Addresses and names, by student."""

    @classmethod
    def of(cls, course: Course, lab: str) -> Before:
        """Return who has handed in something in the labs that were released; whoever was taken away is nobody again."""
        labs = {name: course.submitters(name) for name in {lab, *course.labs()}}
        path = course.state / "people.json"
        known = _read(path)
        said = {student: known.get(student, {}) for own in labs.values() for student in own}
        students = [Student(id=own) for own in said]
        students += [Student(own, email=email) for own, each in said.items() for email in each.get("emails", [])]
        students += [Student(own, last_name=name) for own, each in said.items() for name in each.get("names", [])]
        return cls(path, students, any(own for name, own in labs.items() if name != lab), said)

    def refuse_second_ids(
        self, source: Path, students: Collection[str], by_student: Mapping[str, Sequence[Piece]], people: Roster
    ) -> None:
        """Raise CourseError if most of these are new, and have the names of students who were collected before."""
        alike = {
            student: found[0]
            for student in students
            if not people.has(student) and (found := people.namesakes(_about(student, by_student[student], people)[1]))
        }
        if self.others and len(alike) > 1 and 2 * len(alike) > len(students):
            pairs = listed([f"{student} has the name of {other}" for student, other in sorted(alike.items())])
            raise CourseError(
                f"{source}: {len(alike)} of {counted(len(students), 'student')} would get ids that are new in this"
                f" course, though it has students of their names: {pairs}",
                hint=_HINTS[people.table is not None],
            )

    def noting(self, rows: Iterable[Row], by_student: Mapping[str, Sequence[Piece]], people: Roster) -> Iterator[Row]:
        """Yield the rows; then keep what the archive and the roster say of the students who were placed."""
        placed = set[str]()
        for row in rows:
            placed |= {row.student} if row.placed else set()
            yield row
        before = {student: dict(each) for student, each in self.said.items() if each}
        now = {student: dict(each) for student, each in before.items()}
        for student in placed:
            for kind, more in zip(_KINDS, _about(student, by_student[student], people), strict=True):
                if more:
                    own = now.setdefault(student, {})
                    own[kind] = list(dict.fromkeys([*own.get(kind, []), *more]))[:_MOST]
        if now != before:
            with suppress(OSError):  # then it could not be placed either, or the disk is full, which has been said
                self.path.parent.mkdir(exist_ok=True)
                write_whole(self.path, json.dumps(now, indent=0, sort_keys=True).encode())


def _about(student: str, own: Sequence[Piece], people: Roster) -> tuple[list[str], list[str]]:
    """Return the addresses and names that the archive and the roster give to the owners of a student's files.

    Only of somebody new, or whose id or whole address says so: what is a guess today is none tomorrow.
    """
    emails, names = list[str](), list[str]()
    for owner in dict.fromkeys(piece.owner for piece in own):
        said = Person(owner.ids, owner.number, owner.email, (owner.name,) if owner.name else ())
        persons = list(filter(None, [_row(owner, people), said]))
        matches = [people.match(person) for person in persons]
        if not people.has(student) or any(match.exact and match.student == student for match in matches):
            emails += [address for person in persons for address in person.addresses]
            names += [name for person in persons for name in person.names]
    return list(dict.fromkeys(emails)), list(dict.fromkeys(names))


def _row(owner: Owner, people: Roster) -> Person | None:
    number = people.by_number(owner.number) if owner.number else None
    found = number or people.by_own(Person(owner.ids, email=owner.email))
    return found or (people.by_name(owner.name) if owner.name else None)


def _read(path: Path) -> dict[str, dict[str, list[str]]]:
    """Return what is in the file; of what is not as we write it, nothing."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    people = found.items() if isinstance(found, dict) else ()
    return {
        student: {kind: [text for text in each[kind] if isinstance(text, str)] for kind in each if _is_list(each, kind)}
        for student, each in people
        if isinstance(each, dict)
    }


def _is_list(each: Mapping[str, object], kind: str) -> bool:
    return kind in _KINDS and isinstance(each[kind], list)
