"""Who of a roster has handed in nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autograder.collect.before import Before
from autograder.collect.rows import Row
from autograder.course import Course
from autograder.lms import read_roster
from autograder.lms.keys import fold

__all__ = ["who_handed_in_nothing"]


def who_handed_in_nothing(course: Course, lab: str, roster: Path, rows: Iterable[Row]) -> list[str]:
    """Return the people of a roster of whom nothing has been handed in for a lab, neither before nor by these rows."""
    people = read_roster(roster, course.students(), Before.of(course, lab).students)
    here = {fold(student) for student in (*course.submitters(lab), *(row.student for row in rows)) if student}
    here |= {fold(student) for student in course.excluded}
    students = [(people.match_row(person).student, person) for person in people.people]
    return [
        next(filter(None, (student, *person.ids, person.email, *person.names)), person.number)
        for student, person in students
        if here.isdisjoint(map(fold, (student, *person.ids, *person.addresses)))
    ]
