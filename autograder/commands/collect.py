"""The collect command: submissions from the zip file of an LMS."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
from rich.cells import cell_len, set_cell_size

from autograder.collect import IN_NO_FOLDER, LEFT_OUT, SYSTEMS, Row, collect_lab, who_handed_in_nothing
from autograder.commands.common import COURSE, LAB, ROSTER_FILE, STUDENTS, SYSTEM_HINTS, command
from autograder.commands.table import plain
from autograder.course import open_course
from autograder.errors import AutograderError, counted, listed
from autograder.records.removed import GONE, LEFT, removed

__all__ = ["collect"]

_BACK = f"grade takes them in again; {LEFT}"
_TOGETHER = "where an earlier hand-in has it, put all notebooks into STUDENT/ in a folder and collect that with --force"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@click.command(short_help="Take submissions from the zip file of an LMS.")
@LAB
@click.argument("source", metavar="ZIP|DIR", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--from",
    "system",
    type=click.Choice(SYSTEMS),
    default="auto",
    show_default=True,
    help="Where it comes from; 'folders' are named after students.",
)
@click.option(
    "--roster",
    type=ROSTER_FILE,
    metavar="FILE",
    help="CSV export that says who is who in the file names.",
)
@click.option(
    "--late",
    metavar="TIME",
    callback=lambda _context, _parameter, text: _duration(text),
    help="How late a submission counts that Canvas marks LATE without saying when it came, such as 1h, 2d.",
)
@STUDENTS
@COURSE
@click.option(
    "--force",
    is_flag=True,
    help="Replace a submission that is there and not older, too; take most of a class under second ids, or an archive"
    " of another lab.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@command
def collect(
    lab: str, source: Path, system: str, roster: Path | None, late: timedelta | None, students: tuple[str, ...],
    root: Path, force: bool, dry_run: bool,
) -> None:  # fmt: skip
    """Take the submissions of LAB from the zip file that Canvas, Moodle or Gradescope hands out, or from a folder.

    They go to submitted/STUDENT/LAB. Of several attempts the newest counts, a file that a browser renamed is found,
    and files beside the notebook come along. A submission that is there already is replaced by a newer one only, and
    not by one that cannot be graded (an empty file, another lab's notebook); it is kept in .autograder/replaced.
    A student's own zip file is opened if the notebook is in it. Whatever is not taken is listed with the reason;
    nothing is written anywhere else.

    Students are found by id, by e-mail address, by name. Canvas's file names hold names only, Moodle's a number: give
    the gradebook exported from Canvas, or Moodle's grading worksheet, as --roster, each time. An archive of which most
    was collected before under other ids, byte for byte, is refused; --force takes it.

    Canvas marks what is late, and does not say by how much: with --late such a submission counts as handed in that long
    after its due date, for the course's penalty; without, as in time.

    \b
    Examples:
      autograder collect 01_numpy_mlp submissions.zip --roster canvas_gradebook.csv
      autograder collect 01_numpy_mlp assignment_1_export.zip --dry-run
    """
    options = {"system": system, "roster": roster, "late": late, "students": students, "force": force}
    rows = _collected(root, lab, source, **options, dry_run=dry_run)
    click.echo(f"{_counts(rows)}{' (dry run: nothing was written)' if dry_run else ''}", err=True)
    placed = {row.student for row in rows if row.placed}
    if back := sorted(placed & removed(open_course(root))):
        click.echo(f"{GONE}: {plain(listed(back))}; {_BACK}", err=True)
    if kept := sorted({row.student for row in rows if row.placed == "kept"}):
        click.echo(f"the archive has another submission, which was not taken, of: {plain(listed(kept))}", err=True)
    for file in sorted({file for row in rows for file in row.missing}):
        without = plain(listed(sorted({row.student for row in rows if file in row.missing})))
        click.echo(f"handed in without {file}, which gives 0 points: {without}; {_TOGETHER}", err=True)
    if roster and not students and (nothing := who_handed_in_nothing(open_course(root), lab, roster, rows)):
        click.echo(f"nothing handed in, of those in {roster.name}: {plain(listed(nothing))}", err=True)
    _say_lost(rows)


def _say_lost(rows: Sequence[Row]) -> None:
    """Raise an error if a submission is among what was not taken: the file system's, where it is the whole course's."""
    if general := next((row.error for row in rows if row.error and row.error.errno in SYSTEM_HINTS), None):
        left = counted(sum(row.lost for row in rows), "submission")
        click.echo(f"{left} could not be taken; the table above says which", err=True)
        raise general
    if lost := [row for row in rows if row.lost]:
        out = sum(row.what.startswith(LEFT_OUT) for row in lost)
        kinds = {"could not be taken": out, "cannot be graded": len(lost) - out}
        raise AutograderError(
            "; ".join(f"{counted(number, 'submission')} {what}" for what, number in kinds.items() if number),
            hint=f"the table above says why; {_what_now(rows)}",
        )


def _what_now(rows: Sequence[Row]) -> str:
    """Say what becomes of the others, and what helps files that lie in no student's folder."""
    others = "the others are in their places" if any(row.placed for row in rows) else "nothing is in its place"
    flat = any(row.lost and row.what.endswith(IN_NO_FOLDER) for row in rows)
    return f"{others}; put each student's files into a folder of that name: STUDENT/NOTEBOOK.ipynb" if flat else others


def _collected(root: Path, lab: str, source: Path, **options: Any) -> list[Row]:
    """Collect the submissions of a lab and print a table: student, file, what happened."""
    course, around = open_course(root), list[str]()
    rows = list(collect_lab(course, lab, source, around=around.append, **options))
    files = "".join(["file", *(f" (in {folder}/)" for folder in around if folder)])
    shown = [("student", files, "what happened"), *((r.student or "-", r.file or "-", r.what) for r in rows)]
    cells = [tuple(plain(text) for text in row) for row in shown]
    widths = [min(48, max(cell_len(row[column]) for row in cells)) for column in range(2)]
    for student, file, what in cells:
        print(f"{_fitted(student, widths[0])}  {_fitted(file, widths[1])}  {what}")
    return rows


def _counts(rows: Sequence[Row]) -> str:
    """Return of how many students the submission is in its place, or would be, and how it came there."""
    kinds = Counter(row.placed for row in rows if row.placed not in {"", "kept"})
    how = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    return f"{counted(kinds.total(), 'student')}{how and f': {how}'}"


def _duration(text: str | None) -> timedelta | None:
    """Return a time such as 90m, 36h, 2d or 1w."""
    if text is None:
        return None
    if not (found := re.fullmatch(r"(\d{1,4})([mhdw])", text.strip())) or not int(found[1]):
        raise click.BadParameter("a number and m, h, d or w, such as 1h or 2d")
    return int(found[1]) * timedelta(**{_UNITS[found[2]]: 1})


def _fitted(text: str, width: int) -> str:
    return text if cell_len(text) > width else set_cell_size(text, width)
