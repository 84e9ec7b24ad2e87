"""Grades for Moodle: an assignment's offline grading worksheet, filled in, or a file for the gradebook's import.

Sources: moodle/moodle, mod/assign/feedback/offline/importgradeslib.php and locallib.php (the worksheet is read by its
columns Identifier, Grade and Last modified (grade); an empty grade is skipped, and so is one above the maximum or one
whose "last modified" is older than Moodle's), and docs.moodle.org, "Grade import" (CSV, mapped by e-mail address or ID
number).
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.errors import CourseError
from autograder.lms.roster import Roster
from autograder.lms.table import Export, Table, address, number, points_in, text, written
from autograder.model import GradebookEntry

__all__ = ["moodle_csv"]

_CUT = "more points than the maximum, which Moodle cuts off or refuses unless the grade item's maximum is raised there"
_SKIPPED = "more points than the maximum grade, which Moodle skips: raise it there, and download the worksheet again"
_COLUMNS = ["First name", "Last name", "ID number", "Email address"]


def moodle_csv(rows: Sequence[GradebookEntry], roster: Roster) -> Export:
    """Return the worksheet with the grades in it, if the roster is one; else one row a student with a column a lab.

    In the worksheet everything but the grade stays as Moodle wrote it, or it would not find the participant again.
    """
    table = roster.table
    if table is None:
        return _for_import(rows)
    if table.column("Identifier") < 0 or table.column("Grade") < 0:
        raise CourseError(
            f"{table.path}: not a grading worksheet: no column Identifier or no column Grade",
            hint="in the assignment: View all submissions, Grading action, Download grading worksheet, in English",
        )
    if len(labs := sorted({row.lab for row in rows})) > 1:
        raise CourseError(
            f"a grading worksheet is for one assignment; there are {', '.join(labs)}", hint="name one: --lab LAB"
        )
    return _worksheet(rows, roster, table)


def _for_import(rows: Sequence[GradebookEntry]) -> Export:
    labs = sorted({row.lab for row in rows})
    grades: dict[str, dict[str, GradebookEntry]] = {}
    for row in rows:
        grades.setdefault(row.student, {})[row.lab] = row
    table = [[*_COLUMNS, *map(text, labs)]]
    for student, own in grades.items():
        person = next(iter(own.values()))
        who = [text(person.first_name), text(person.last_name), address(student), address(person.email)]
        table.append([*who, *(number(own[lab].score) if lab in own else "" for lab in labs)])
    above = [f"{row.student} ({row.lab}: {row.score:g} of {row.max_score:g})" for row in rows if _above(row)]
    return Export(written(table), len(grades), [f"{_CUT}: {', '.join(above)}"] if above else [])


def _worksheet(rows: Sequence[GradebookEntry], roster: Roster, table: Table) -> Export:
    grades = {row.student: row for row in rows}
    grade_at, most_at = table.column("Grade"), table.column("Maximum Grade")
    locked_at = table.column("Grade can be changed")
    lines, notes = [list(row) for row in table.rows], []
    found: set[str] = set()
    scales, above = set(), []
    for person in roster.people:
        match, line = roster.match_row(person), lines[person.row]
        student, who = match.student, person.names[0] if person.names else line[0]
        if student not in grades or student in found:
            why = "no grade" if student else match.doubt or "no such student in the gradebook"
            notes.append(f"{who}: left as it was: {why}")
            continue
        found.add(student)
        if locked_at >= 0 and line[locked_at].strip().casefold() == "no":
            notes.append(f"{who}: left as it was: Moodle says that the grade cannot be changed")
            continue
        own = grades[student]
        most = points_in(line[most_at]) if most_at >= 0 else 0.0
        scale = most / own.max_score if most and own.max_score else 1.0
        above += [f"{who} ({own.score * scale:g} of {most or own.max_score:g})"] if _above(own) else []
        scales.add((own.max_score, most or own.max_score))
        decimal = "," if most_at >= 0 and "," in line[most_at] and "." not in line[most_at] else "."
        line[grade_at] = f"{own.score * scale:.2f}".replace(".", decimal)
    notes += [f"{student}: left out: not in {table.path.name}" for student in grades if student not in found]
    notes += [f"points of {ours:g} are scaled to Moodle's {theirs:g}" for ours, theirs in scales if ours != theirs]
    notes += [f"{_SKIPPED}: {', '.join(above)}"] if above else []
    return Export(written([table.header, *lines], newline="\r\n"), len(found), notes)


def _above(row: GradebookEntry) -> bool:
    """Whether extra credit makes it more than the maximum."""
    return row.score > row.max_score + 1e-9
