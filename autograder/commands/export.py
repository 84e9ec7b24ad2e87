"""The export command: grades as CSV, in the columns of the system that reads them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from autograder.commands.common import COURSE, ROSTER_FILE, command, may_replace, say_late, stderr
from autograder.commands.notes import notes_on_changes, notes_on_scores, nothing_graded
from autograder.commands.table import plain
from autograder.course import Course, open_course
from autograder.errors import counted, listed
from autograder.files import write_whole
from autograder.lms import (
    Export,
    Roster,
    canvas_csv,
    gradescope_csv,
    moodle_csv,
    nbgrader_csv,
    read_roster,
)
from autograder.model import GradebookEntry

__all__ = ["export", "export_grades"]

_MOST_HASHES = 1000
_WITH_ABSENT = {"nbgrader": "0 points in the file, as in nbgrader's own", "gradescope": "Missing in the file"}
"""The formats with a row for each student, and what that says of one who has handed in nothing."""


@click.command(short_help="Write the grades as CSV, also for Canvas, Moodle and Gradescope.")
@COURSE
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="CSV file to write; - prints it.",
)
@click.option("--lab", default=None, metavar="LAB", help="Only this lab.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["nbgrader", "canvas", "moodle", "gradescope"]),
    default="nbgrader",
    show_default=True,
    help="Whose columns.",
)
@click.option(
    "--roster",
    type=ROSTER_FILE,
    metavar="FILE",
    help="CSV export of that system, to be filled in.",
)
@command
def export(root: Path, target: Path, lab: str | None, form: str, roster: Path | None) -> None:
    """Write the gradebook's scores as CSV, in nbgrader's columns, or in those that another system reads.

    nbgrader: one row a student and lab, with 0 points where nothing was handed in. canvas: for Grades, Import; with the
    exported gradebook as --roster the ids and assignments are Canvas's own. moodle: with an assignment's grading
    worksheet as --roster the worksheet, filled in; else a file for Grades, Import. gradescope: the columns of its
    Download Grades, one lab a file. In canvas and moodle whoever has handed in nothing is left out, and keeps the
    points that are there.

    Students are matched by id, then by e-mail address. Whoever is left out is listed on stderr. An existing file is
    replaced only if it is an earlier export.

    \b
    Examples:
      autograder export --to grades.csv
      autograder export --format canvas --roster canvas_gradebook.csv --to import.csv
      autograder export --format moodle --lab 01_numpy_mlp --roster worksheet.csv --to filled.csv
    """
    if roster is not None and form == "nbgrader":
        raise click.UsageError("--roster belongs to another --format: canvas, moodle or gradescope")
    printed = str(target) == "-"
    rows = export_grades(root, None if printed else target, lab, form, roster)
    click.echo(f"{counted(rows, 'row')}{'' if printed else f' in {target}'}", err=True)


def export_grades(
    root: Path, target: Path | None, lab: str | None, form: str = "nbgrader", roster: Path | None = None
) -> int:
    """Write the CSV file, or print it if there is no target; return its number of rows.

    A file that is not an earlier export of this format is left alone: CourseError.
    """
    course = open_course(root)
    if lab is not None:
        course.notebooks(lab)
    people = read_roster(roster, course.students(everybody=True))
    for name in [lab] if lab is not None else course.recorded():
        say_late(course, name)
    scores, absent = course.scores(lab), _absent(course, lab, form)
    export = _exported(course, _by_lab(scores, absent if form in _WITH_ABSENT else ()), form, people)
    labs = {score.lab for score in scores}
    changed = [note for name in sorted(labs) for note in notes_on_changes(course, name)]
    said = () if roster and form not in _WITH_ABSENT else _said_of_absent(absent, labs, form)  # else each is named
    nothing = [] if scores else [nothing_graded(lab or str(course.root), lab or "LAB")]
    for note in [*nothing, *export.notes, *said, *notes_on_scores(scores), *changed]:
        stderr().print(plain(note), soft_wrap=True, markup=False)
    if target is None:
        sys.stdout.write(export.content)
        return export.rows
    content, before = export.content.encode(), _Written(course.state / f"exports.{form}.txt")
    ours = not _same_file(target, roster) and (before.holds(target) or _is_export(target, export.content))
    may_replace(target, ours=ours, what="is not an export, or was changed since")
    write_whole(target, content)
    before.note(content)
    return export.rows


def _absent(course: Course, lab: str | None, form: str) -> list[GradebookEntry]:
    """Return rows for who has handed in nothing, of labs in which others have; nbgrader's columns: of every lab."""
    labs = set(course.recorded())
    return [row for row in course.absent(lab) if form == "nbgrader" or row.lab == lab or row.lab in labs]


def _by_lab(scores: Sequence[GradebookEntry], absent: Sequence[GradebookEntry]) -> list[GradebookEntry]:
    return sorted([*scores, *absent], key=lambda row: (row.lab, row.student))


def _said_of_absent(absent: Sequence[GradebookEntry], labs: Collection[str], form: str) -> Iterator[str]:
    """Yield for each of these labs who has handed in nothing, and what the file has of them."""
    everybody = _WITH_ABSENT.get(form, "left out, so that the points that are there stay as they are")
    for lab in sorted({row.lab for row in absent} & set(labs)):
        own = [row.student for row in absent if row.lab == lab]
        yield f"{lab}: nothing graded of {counted(len(own), 'student')}: {listed(own)}; {everybody}"


def _exported(course: Course, rows: Sequence[GradebookEntry], form: str, people: Roster) -> Export:
    if form == "gradescope":
        labs = {row.lab for row in rows}
        return gradescope_csv(rows, course.cells(labs.pop()) if len(labs) == 1 else {}, people)
    formats: dict[str, Callable[[], Export]] = {
        "nbgrader": lambda: nbgrader_csv(rows),
        "canvas": lambda: canvas_csv(rows, people),
        "moodle": lambda: moodle_csv(rows, people),
    }
    return formats[form]()


def _same_file(target: Path, roster: Path | None) -> bool:
    return target.exists() and roster is not None and roster.exists() and target.samefile(roster)


@dataclass(frozen=True)
class _Written:
    """The hashes of the files that earlier exports of a course have written, in one format."""

    path: Path

    def holds(self, file: Path) -> bool:
        """Whether a file is one of them, as it was written."""
        if not (self.path.is_file() and file.is_file()):
            return False
        return _hash(file.read_bytes()) in self.path.read_text(encoding="utf-8").split()

    def note(self, content: bytes) -> None:
        """Add one; in a course that may only be read none is kept."""
        before = self.path.read_text(encoding="utf-8").split() if self.path.is_file() else []
        kept = list(dict.fromkeys([*before, _hash(content)]))[-_MOST_HASHES:]
        with suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            write_whole(self.path, "\n".join(kept).encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_export(path: Path, content: str) -> bool:
    """Whether a file begins with the columns that are to be written to it now."""
    header = content.split("\n", 1)[0].rstrip("\r")
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(header.encode()) + 1).decode(errors="replace").rstrip("\r\n") == header
