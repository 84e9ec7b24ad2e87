"""The command line: stdout is data, stderr is progress; exit 0 if the command did its job, 1 if not, 2 for usage."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from autograder.command import COURSE, LAB, STUDENTS, command
from autograder.errors import AutograderError
from autograder.records_cli import collect, export, report, verify

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dl-scale-practicum", prog_name="autograder")
def main() -> None:
    """Release labs, collect and grade submissions, write feedback, export grades, check the records.

    \b
    Example:
      autograder grade 01_numpy_mlp --workers 2
    """
    # jsonschema, which checks notebooks, imports it if it is there: three quarters of a second, for addresses with
    # letters of other alphabets, of which a notebook has none.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


@main.command(short_help="Make the students' notebooks from the instructor's sources.")
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option(
    "--check", is_flag=True, help="Change nothing; print a diff and exit 1 if labs/ is not what solutions/ says."
)
@COURSE
@command
def release(labs: tuple[str, ...], check: bool, root: Path) -> None:
    """Make the students' notebooks from the instructor's sources, all labs or those named.

    Refuses to publish a lab whose solutions or hidden tests would leak. In a course whose source is a notebook it runs
    nbgrader's own generate_assignment.

    \b
    Examples:
      autograder release
      autograder release 01_numpy_mlp --check
    """
    from autograder.publish import check_labs, release_labs

    if check:
        if difference := check_labs(root, labs):
            click.echo(difference, nl=False)
            raise AutograderError("labs/ is not what solutions/ says", hint="autograder release, then commit both")
        return
    for line in release_labs(root, labs):
        click.echo(line)


@main.command(short_help="Grade the submissions of a lab, each in a sandbox.")
@LAB
@COURSE
@STUDENTS
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Submissions run side by side.",
)
@click.option(
    "--scheduler",
    default="",
    metavar="ADDRESS",
    help="Run the submissions on the workers of this Dask cluster, such as tcp://head:8786.",
)
@click.option(
    "--gpu",
    "gpus",
    type=click.IntRange(0),
    multiple=True,
    metavar="N",
    help="Let the sandbox use this NVIDIA GPU, for one submission at a time; may be repeated.",
)
@click.option("--force", is_flag=True, help="Grade again what has not changed since it was graded.")
@click.option("--dry-run", is_flag=True, help="Say what would be graded, and why; grade nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a student instead of a table.")
@command
def grade(
    lab: str,
    root: Path,
    students: tuple[str, ...],
    workers: int,
    scheduler: str,
    gpus: tuple[int, ...],
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Grade the submissions of LAB, each in a sandbox, and store the grades in nbgrader's gradebook.

    A student's trouble (an unreadable file, a time-out, a deleted cell) is a recorded status and not an error: the exit
    code is 0 if every submission has a status that is not "failed".

    \b
    Examples:
      autograder grade 01_numpy_mlp --workers 2
      autograder grade 01_numpy_mlp --student ann --force
      autograder grade ps1 --course ~/my-course --json
      autograder grade 01_numpy_mlp --scheduler tcp://head:8786
    """
    from autograder.session import grade_lab, plan_lab

    if scheduler and gpus:
        raise click.UsageError("--gpu is for this machine; a cluster's workers see what they were started with")
    if dry_run:
        for student, reason in plan_lab(root, lab, students, force=force):
            click.echo(f"{student}\t{reason}")
        return
    outcomes = grade_lab(
        root, lab, students, workers=workers, force=force, as_json=as_json, scheduler=scheduler, gpus=gpus
    )
    failed = [outcome.result.student for outcome in outcomes if outcome.result.status == "failed"]
    if failed:
        raise AutograderError(
            f"{', '.join(failed)}: not graded", hint="the messages above say why; run the command again"
        )


@main.command(short_help="Write a page for each student.")
@LAB
@COURSE
@STUDENTS
@command
def feedback(lab: str, root: Path, students: tuple[str, ...]) -> None:
    """Write one HTML page a submission, feedback/<student>/LAB/, with the gradebook's scores and comments.

    \b
    Example:
      autograder feedback 01_numpy_mlp
    """
    from autograder.session import feedback_lab

    for path in feedback_lab(root, lab, students):
        click.echo(str(path))


@main.command(short_help="Grade eight sample submissions of lab 01.")
@click.option(
    "--course",
    "root",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Checkout of the kit; the current directory if not given.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=lambda: min(2, os.cpu_count() or 1),
    metavar="N",
    help="Submissions run side by side; as many as there are cores, up to 2, if not given.",
)
@command
def demo(root: Path, workers: int) -> None:
    """Build lab 01, hand in eight sample submissions, grade them in a sandbox and show the grades.

    Everything is made in build/demo and made anew each time.

    \b
    Example:
      autograder demo
    """
    from autograder.demo import run_demo

    run_demo(root, workers=workers)


for member in (collect, export, report, verify):
    main.add_command(member)
