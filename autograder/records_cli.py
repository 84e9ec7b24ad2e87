"""The commands around grading: collect what an LMS hands out, export grades, report on a class, verify the records."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.command import COURSE, LAB, command
from autograder.errors import AutograderError

__all__ = ["collect", "export", "report", "verify"]

_ROSTER_TYPE = click.Path(exists=True, dir_okay=False, path_type=Path)


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
@click.option("--roster", type=_ROSTER_TYPE, metavar="FILE", help="CSV export that says who is who in the file names.")
@COURSE
@click.option("--force", is_flag=True, help="Replace a submission that is there and not older, too.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@command
def collect(lab: str, source: Path, system: str, roster: Path | None, root: Path, force: bool, dry_run: bool) -> None:
    """Take the submissions of LAB from the zip file that Canvas, Moodle or Gradescope hands out, or from a folder.

    They go to submitted/STUDENT/LAB. Of several attempts the newest counts, a file that a browser renamed is found,
    and files beside the notebook come along. A submission that is there already is replaced by a newer one only, and
    kept in .autograder/replaced. Whatever is not taken is listed with the reason; nothing is written anywhere else.

    Students are found by id, by e-mail address, by name. Canvas's file names hold names only, Moodle's a number: give
    the gradebook exported from Canvas, or Moodle's grading worksheet, as --roster.

    \b
    Examples:
      autograder collect 01_numpy_mlp submissions.zip --roster canvas_gradebook.csv
      autograder collect 01_numpy_mlp assignment_1_export.zip --dry-run
    """
    from autograder import records

    rows = records.collect(root, lab, source, system=system, roster=roster, force=force, dry_run=dry_run)
    taken = len({row.student for row in rows if row.student and not row.lost})
    click.echo(f"{taken} students{' (dry run: nothing was written)' if dry_run else ''}", err=True)
    if lost := sum(row.lost for row in rows):
        raise AutograderError(
            f"{lost} submissions could not be taken", hint="the table above says why; the others are in their places"
        )


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
@click.option("--roster", type=_ROSTER_TYPE, metavar="FILE", help="CSV export of that system, to be filled in.")
@command
def export(root: Path, target: Path, lab: str | None, form: str, roster: Path | None) -> None:
    """Write the gradebook's scores as CSV, in nbgrader's columns, or in those that another system reads.

    nbgrader: one row a student and lab. canvas: for Grades, Import; with the exported gradebook as --roster the ids and
    assignments are Canvas's own. moodle: with an assignment's grading worksheet as --roster the worksheet, filled in;
    else a file for Grades, Import. gradescope: the columns of its Download Grades, one lab a file.

    Students are matched by id, then by e-mail address. Whoever is left out is listed on stderr. An existing file is
    replaced only if it is an earlier export.

    \b
    Examples:
      autograder export --to grades.csv
      autograder export --format canvas --roster canvas_gradebook.csv --to import.csv
      autograder export --format moodle --lab 01_numpy_mlp --roster worksheet.csv --to filled.csv
    """
    from autograder import records

    if roster is not None and form == "nbgrader":
        raise click.UsageError("--roster belongs to another --format: canvas, moodle or gradescope")
    printed = str(target) == "-"
    rows = records.export_grades(root, None if printed else target, lab, form, roster)
    click.echo(f"{rows} rows{'' if printed else f' in {target}'}", err=True)


@click.command(short_help="Write a report on a class: scores, tasks, what to look at.")
@LAB
@COURSE
@click.option(
    "--to",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Page to write; LAB_report.html in the course directory if not given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON; no page, unless --to is given.")
@command
def report(lab: str, root: Path, target: Path | None, as_json: bool) -> None:
    """Write one HTML page about LAB: the spread of scores, which tasks and cases failed, whom to look at, the slowest.

    \b
    Examples:
      autograder report 01_numpy_mlp
      autograder report 01_numpy_mlp --json
    """
    from autograder import records

    if path := records.report_lab(root, lab, target, as_json=as_json):
        click.echo(str(path), err=as_json)


@click.command(short_help="Check that log and gradebook agree, and that neither was edited.")
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@COURSE
@click.option(
    "--head", default="", metavar="HASH", help="What grade printed at its end; finds lines that were cut off."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a lab.")
@command
def verify(labs: tuple[str, ...], root: Path, head: str, as_json: bool) -> None:
    """Check the log of each LAB, or of all, for lines edited, removed, moved or inserted, and the gradebook against it.

    Prints one line a difference, and what was given by hand, which is none. Exit code 0 if all agrees, 1 if not.

    \b
    Examples:
      autograder verify
      autograder verify 01_numpy_mlp --head 9f2b61c07d5e4a38
    """
    from autograder import records

    if head and len(labs) != 1:
        raise click.UsageError("--head belongs to one lab: name it")
    labs = tuple(lab.rstrip("/") for lab in labs)
    if count := records.verify_labs(root, labs, head=head.strip().lower(), as_json=as_json):
        raise AutograderError(
            f"{count} differences",
            hint="to grade the students named again, autograder grade LAB --student S --force; the log itself stays",
        )
