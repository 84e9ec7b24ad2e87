"""The release command: students' notebooks from the instructor's sources."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from autograder.commands.common import COURSE, command
from autograder.commands.table import plain
from autograder.course import Course
from autograder.errors import AutograderError, SandboxError, SourceError, in_one_line
from autograder.grading.solution import Solution
from autograder.release.build import Release
from autograder.release.publish import check_labs, release_labs
from autograder.sandbox import Gpu, find_gpu

__all__ = ["prove", "release"]


@click.command(short_help="Make the students' notebooks from the instructor's sources.")
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option(
    "--check",
    is_flag=True,
    help="Change nothing; print a diff and exit 1 if what was released is not what the sources say.",
)
@click.option("--skip-solution", is_flag=True, help="Do not grade the source's own solution before.")
@click.option(
    "--gpu", type=click.IntRange(0), metavar="N", help="Grade the solution with this GPU, as numbered by nvidia-smi."
)
@click.option("--replace", is_flag=True, help="Write also over files changed since; keep these in .autograder.")
@COURSE
@command
def release(
    labs: tuple[str, ...], check: bool, skip_solution: bool, gpu: int | None, replace: bool, root: Path
) -> None:
    """Make the students' notebooks from the instructor's sources, all labs or those named.

    Refuses to publish a lab whose solutions or hidden tests would leak, or whose own solution, graded in the sandbox
    like a submission, fails a test. In a course whose source is a notebook it runs nbgrader's own generate_assignment.
    A lab is left as it is if a file of its release is not as it was written: somebody may have solved it there.

    \b
    Examples:
      autograder release
      autograder release 01_numpy_mlp --check
    """
    if check:
        if difference := check_labs(root, labs):
            click.echo(difference, nl=False)
            raise AutograderError(
                "what was released is not what the sources say", hint="autograder release, then commit both"
            )
        return
    if skip_solution and gpu is not None:
        raise click.UsageError("--gpu is for grading the solution, which --skip-solution leaves out")
    with_gpu = partial(prove, gpu=None if gpu is None else find_gpu(gpu))
    for line in release_labs(root, labs, _say_skipped if skip_solution else with_gpu, replace=replace):
        click.echo(line)


def _say_skipped(_course: Course, lab: str, _release: Release | None) -> None:
    click.echo(f"note: {lab}: its solution was not graded", err=True)


def prove(course: Course, lab: str, built: Release | None, gpu: Gpu | None = None) -> None:
    """Grade the solution of a lab, be its source ours or a notebook; SourceError if it fails a test."""
    try:
        solution = Solution(course, lab, built.source_notebook if built else None, gpu)
        if solution.known:
            return
        click.echo(f"{lab}: grading its solution", err=True)
        lost = solution.lost()
    except SandboxError as error:
        if gpu is not None:
            raise  # what was asked for cannot be had
        click.echo(f"note: {lab}: its solution was not graded: {in_one_line(error)}", err=True)
        return
    if lost:
        raise SourceError(
            f"{lab}: its own solution does not get full marks: {plain('; '.join(lost))}",
            hint="mend the test or the solution; nothing was released."
            f" autograder release {lab} --skip-solution does not ask",
        )
