"""Grades for Canvas: the file that Gradebook, Import takes.

Sources: instructure/canvas-lms, lib/gradebook_exporter.rb (the columns and the row `Points Possible`) and
lib/gradebook_importer.rb (what is read back: a person is looked up by ID, then by SIS User ID, then by SIS Login ID,
then by name; a column is an assignment's by the number in parentheses after its title, else by its title; a blank field
deletes a score; rows and assignments that are not in the file are left alone).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from autograder.errors import CourseError
from autograder.lms.roster import Match, Roster
from autograder.lms.table import Export, Table, address, number, points_in, text, written
from autograder.model import GradebookEntry

__all__ = ["canvas_csv"]

_IDENTITY = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
_POSSIBLE = "    Points Possible"


def canvas_csv(rows: Sequence[GradebookEntry], roster: Roster) -> Export:
    """Return one row a student, with a column a lab and the row of the points possible.

    With a roster, which is a gradebook exported from Canvas, the columns that say who is who are Canvas's own,
    unchanged: with an apostrophe before it an id would find nobody; points are scaled to those of the assignment there.
    Without one the student's id stands as both
    SIS id and login.
    """
    labs = {row.lab: row.max_score for row in sorted(rows, key=lambda row: (row.lab, row.max_score))}
    grades: dict[str, dict[str, GradebookEntry]] = {}
    for row in rows:
        grades.setdefault(row.student, {})[row.lab] = row
    if roster.table is None:
        return _without(labs, grades)
    return _filled(labs, grades, roster, roster.table)


def _without(labs: Mapping[str, float], grades: Mapping[str, Mapping[str, GradebookEntry]]) -> Export:
    table = [[*_IDENTITY, *map(text, labs)], [_POSSIBLE, "", "", "", "", *map(number, labs.values())]]
    for student, own in grades.items():
        person = next(iter(own.values()))
        name = f"{person.last_name}, {person.first_name}" if person.last_name and person.first_name else student
        login = address(student)
        table.append(
            [text(name), "", login, login, "", *(number(own[lab].score) if lab in own else "" for lab in labs)]
        )
    return Export(written(table), len(grades))


def _filled(
    labs: Mapping[str, float], grades: Mapping[str, Mapping[str, GradebookEntry]], roster: Roster, table: Table
) -> Export:
    identity = table.column("Section") + 1
    if not identity or table.column("ID") < 0:
        raise CourseError(
            f"{table.path}: no gradebook of Canvas: no column ID or no column Section",
            hint="in Canvas: Grades, Export, Export Entire Gradebook",
        )
    where = {lab: _assignment(table, lab) for lab in labs}
    header = [*table.header[:identity], *(table.header[at] if at >= 0 else text(lab) for lab, at in where.items())]
    told = {lab: _possible(table, at) for lab, at in where.items()}
    possible = {lab: points_in(told[lab]) or most for lab, most in labs.items()}
    lines = [header, [_POSSIBLE, *[""] * (identity - 1), *map(number, possible.values())]]
    found: set[str] = set()
    notes = [
        f"{lab}: no assignment of this name in {table.path.name}: Canvas makes one"
        for lab, at in where.items()
        if at < 0
    ]
    for person in roster.people:
        match = roster.match_row(person)
        student, row = match.student, table.rows[person.row]
        if student not in grades or student in found:
            notes.append(f"{' '.join(person.names) or row[0]}: left out: {_why(match, student in found)}")
            continue
        found.add(student)
        own = grades[student]
        before = {lab: row[at] if at >= 0 else "" for lab, at in where.items()}
        scores = (_scaled(own[lab], possible[lab]) if lab in own else before[lab] for lab in labs)
        lines.append([*row[:identity], *scores])
    notes += [f"{student}: left out: not in {table.path.name}" for student in grades if student not in found]
    notes += _of_points(labs, told)
    return Export(written(lines), len(found), notes)


def _possible(table: Table, at: int) -> str:
    """Return what Canvas's export says of an assignment's points; empty if nothing, or there is no such column."""
    rows = [row for row in table.rows if row[0].strip().casefold() == _POSSIBLE.strip().casefold()]
    return rows[0][at].strip() if rows and at >= 0 else ""


def _of_points(labs: Mapping[str, float], told: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each lab that has not as many points in Canvas as it has here."""
    for lab, ours in labs.items():
        theirs = points_in(told[lab])
        if theirs and theirs != ours:
            yield f"{lab}: points of {ours:g} are scaled to Canvas's {theirs:g}"
        elif told[lab] and not theirs:
            yield f"{lab}: Canvas says {told[lab]!r} points possible; these are of {ours:g}: set that there"


def _scaled(row: GradebookEntry, possible: float) -> str:
    return number(row.score * possible / row.max_score if row.max_score else row.score)


def _why(match: Match, again: bool) -> str:
    if again:
        return f"{match.student} again"
    return "no grade" if match.student else match.doubt or "nothing of theirs in the gradebook"


def _assignment(table: Table, lab: str) -> int:
    """Return the column of an assignment of this name, with Canvas's number after it or without; -1 if none is.

    If none is called so exactly, the only one whose name differs in case, blanks and signs.
    """
    titles = [re.sub(r"\s*\(\d+\)\s*$", "", name).strip().casefold() for name in table.header]
    if lab.casefold() in titles:
        return titles.index(lab.casefold())
    alike = [at for at, title in enumerate(titles) if _letters(title) == _letters(lab)]
    return alike[0] if len(alike) == 1 else -1


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
