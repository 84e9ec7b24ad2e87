"""The collect command: submissions from the zip file of an LMS."""

from __future__ import annotations

from pathlib import Path

import click
from rich.cells import cell_len, set_cell_size

from autograder.collect import LEFT_OUT, Row, collect_lab
from autograder.commands.common import COURSE, LAB, ROSTER_FILE, SYSTEM_HINTS, command
from autograder.commands.table import plain
from autograder.course import open_course
from autograder.errors import AutograderError, counted

__all__ = ["collect"]


@click.command(short_help="Take submissions from the zip file of an LMS.")
@LAB
@click.argument("source", metavar="ZIP|DIR", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--from",
    "system",
    type=click.Choice(["auto", "canvas", "moodle", "gradescope", "folders"]),
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
@COURSE
@click.option("--force", is_flag=True, help="Replace a submission that is there and not older, too.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@command
def collect(lab: str, source: Path, system: str, roster: Path | None, root: Path, force: bool, dry_run: bool) -> None:
    """Take the submissions of LAB from the zip file that Canvas, Moodle or Gradescope hands out, or from a folder.

    They go to submitted/STUDENT/LAB. Of several attempts the newest counts, a file that a browser renamed is found,
    and files beside the notebook come along. A submission that is there already is replaced by a newer one only, and
    not by one that cannot be graded (an empty file, another lab's notebook); it is kept in .autograder/replaced.
    Whatever is not taken is listed with the reason; nothing is written anywhere else.

    Students are found by id, by e-mail address, by name. Canvas's file names hold names only, Moodle's a number: give
    the gradebook exported from Canvas, or Moodle's grading worksheet, as --roster.

    \b
    Examples:
      autograder collect 01_numpy_mlp submissions.zip --roster canvas_gradebook.csv
      autograder collect 01_numpy_mlp assignment_1_export.zip --dry-run
    """
    rows = _collected(root, lab, source, system=system, roster=roster, force=force, dry_run=dry_run)
    taken = len({row.student for row in rows if row.student and not row.lost})
    click.echo(f"{counted(taken, 'student')}{' (dry run: nothing was written)' if dry_run else ''}", err=True)
    if general := next((row.error for row in rows if row.error and row.error.errno in SYSTEM_HINTS), None):
        left = counted(sum(row.lost for row in rows), "submission")
        click.echo(f"{left} could not be taken; the table above says which", err=True)
        raise general
    if lost := [row for row in rows if row.lost]:
        out = sum(row.what.startswith(LEFT_OUT) for row in lost)
        kinds = {"could not be taken": out, "cannot be graded": len(lost) - out}
        raise AutograderError(
            "; ".join(f"{counted(number, 'submission')} {what}" for what, number in kinds.items() if number),
            hint="the table above says why; the others are in their places",
        )


def _collected(
    root: Path, lab: str, source: Path, *, system: str, roster: Path | None, force: bool, dry_run: bool
) -> list[Row]:
    """Collect the submissions of a lab and print a table: student, file, what happened."""
    course = open_course(root)
    rows = list(collect_lab(course, lab, source, system=system, roster=roster, force=force, dry_run=dry_run))
    shown = [("student", "file", "what happened"), *((r.student or "-", r.file or "-", r.what) for r in rows)]
    cells = [tuple(plain(text) for text in row) for row in shown]
    widths = [min(48, max(cell_len(row[column]) for row in cells)) for column in range(2)]
    for student, file, what in cells:
        print(f"{_fitted(student, widths[0])}  {_fitted(file, widths[1])}  {what}")
    return rows


def _fitted(text: str, width: int) -> str:
    return text if cell_len(text) > width else set_cell_size(text, width)
