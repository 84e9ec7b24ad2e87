"""Grades in the columns of Gradescope's "Download Grades", with a column a task.

Gradescope takes no grades from a file. Its autograders write a results.json, but that is read only from a container
that Gradescope starts for one submission, so one written here would help nobody. What an instructor can use is the file
that Gradescope itself hands out: spreadsheets and scripts made for it read ours. Source of the columns: such files in
public repositories, which agree in order and names (First Name, Last Name, SID, Email, Sections, Total Score,
Max Points, Status, Submission ID, Submission Time, Lateness (H:M:S), View Count, Submission Count, then
`1: Title (2.0 pts)` for each question).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from autograder.course import StoredCell
from autograder.errors import CourseError
from autograder.lms.exported import FIRST, LAST
from autograder.lms.roster import Person, Roster
from autograder.lms.table import Export, address, number, text, written
from autograder.model import GradebookEntry

__all__ = ["gradescope_csv"]

_COLUMNS = [
    "First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points", "Status", "Submission ID",
    "Submission Time", "Lateness (H:M:S)", "View Count", "Submission Count",
]  # fmt: skip


def gradescope_csv(rows: Sequence[GradebookEntry], cells: Mapping[str, Sequence[StoredCell]], roster: Roster) -> Export:
    """Return one row a student of one lab; with a roster, which is such a file, its sections and submission ids too."""
    if len(labs := sorted({row.lab for row in rows})) > 1:
        raise CourseError(f"Gradescope has a file a lab; there are {', '.join(labs)}", hint="name one: --lab LAB")
    tasks = {cell.key: cell for own in cells.values() for cell in own}
    order = {cell.key: place for own in cells.values() for place, cell in enumerate(own)}
    keys = sorted(tasks, key=lambda key: order[key])
    titles = [text(f"{n}: {tasks[key].grade_id} ({tasks[key].max_score:.1f} pts)") for n, key in enumerate(keys, 1)]
    matches = [(person, roster.match_row(person)) for person in roster.people]
    people = {match.student: person for person, match in reversed(matches) if match.student}
    notes = []
    if roster.table is not None:
        notes = [f"{row.student}: not in {roster.table.path.name}" for row in rows if row.student not in people]
        graded = {row.student for row in rows}
        absent = [(person, match.doubt or "no grade") for person, match in matches if match.student not in graded]
        notes += [f"{' '.join(person.names[:1])} {person.email}: left out: {why}" for person, why in absent]
    lines = [[*_about(row, people.get(row.student), roster), *(_points(row, key) for key in keys)] for row in rows]
    return Export(written([[*_COLUMNS, *titles], *lines]), len(rows), notes)


def _about(row: GradebookEntry, person: Person | None, roster: Roster) -> list[str]:
    if row.missing:  # as Gradescope itself writes who has handed in nothing
        return [*_who(row, person, roster), "", number(row.max_score), "Missing", *[""] * 5]
    return [
        *_who(row, person, roster),
        number(row.score),
        number(row.max_score),
        "Ungraded" if row.to_grade else "Graded",
        _field(person, roster, "Submission ID"),
        row.handed_in,
        _lateness(row),
        "0",
        "1",
    ]


def _who(row: GradebookEntry, person: Person | None, roster: Roster) -> list[str]:
    """Return names, id, address and section; what the gradebook does not know is the roster's."""
    first, last = _names(person, roster)
    email = row.email or next(iter(person.addresses if person else ()), "")
    names = [text(row.first_name or first), text(row.last_name or last)]
    return [*names, address(row.student), address(email), text(_field(person, roster, "Sections", "Section"))]


def _names(person: Person | None, roster: Roster) -> tuple[str, str]:
    """Return first and last name as the roster has them: in two columns, as `Lovelace, Ada` or as `Ada Lovelace`."""
    first, last = _field(person, roster, *FIRST), _field(person, roster, *LAST)
    if first or last or not person or not person.names:
        return first, last
    last, comma, first = person.names[0].partition(",")
    if not comma:
        first, _, last = person.names[0].strip().rpartition(" ")
    return first.strip(), last.strip()


def _field(person: Person | None, roster: Roster, *columns: str) -> str:
    """Return what stands in this person's row in the first of these columns that there is; empty if there is none."""
    at = roster.table.column(*columns) if roster.table else -1
    return roster.table.rows[person.row][at].strip() if roster.table and person and at >= 0 else ""


def _points(row: GradebookEntry, key: str) -> str:
    return number(row.grades[key]) if key in row.grades and key not in row.pending else ""


def _lateness(row: GradebookEntry) -> str:
    try:
        due = datetime.fromisoformat(row.due) + timedelta(seconds=row.extension_s)
        late = datetime.fromisoformat(row.handed_in) - due
    except (ValueError, TypeError):  # no due date, or not known when it was handed in
        return "00:00:00"
    seconds = int(max(late, timedelta()).total_seconds())
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
