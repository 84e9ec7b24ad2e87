"""The release command: students' notebooks from the instructor's sources."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.commands.common import COURSE, command
from autograder.errors import AutograderError
from autograder.release.publish import check_labs, release_labs

__all__ = ["release"]


@click.command(short_help="Make the students' notebooks from the instructor's sources.")
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option(
    "--check",
    is_flag=True,
    help="Change nothing; print a diff and exit 1 if what was released is not what the sources say.",
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
    if check:
        if difference := check_labs(root, labs):
            click.echo(difference, nl=False)
            raise AutograderError(
                "what was released is not what the sources say", hint="autograder release, then commit both"
            )
        return
    for line in release_labs(root, labs):
        click.echo(line)
