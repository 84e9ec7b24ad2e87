"""The inputs command: which kinds of arguments a lab's checks have never used."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from autograder.commands.common import COURSE, LAB, command
from autograder.commands.opened_lab import OpenedLab
from autograder.course import open_course
from autograder.errors import SourceError
from autograder.proof.inputs import noting, read_seen, show_holes
from autograder.proof.met_inputs import FILE

__all__ = ["inputs"]


@click.command(short_help="Say which kinds of arguments the checks of a lab have never used.")
@LAB
@click.option("--task", "names", multiple=True, metavar="T", help="Only this task, by its grade_id; may be repeated.")
@COURSE
@command
def inputs(lab: str, names: tuple[str, ...], root: Path) -> None:
    """Say which kinds of arguments the checks of a lab have never used.

    The checks are run once on the lab's own solution, and what each function of a task is called with is noted:
    dtypes, sizes of 0 and 1, ties, order, signs, numbers that 16 bits hold exactly, defaults. Each line names an
    argument and what was never tried. Not each is a hole: ask whether the task's text promises anything about it.

    \b
    Example:
      autograder inputs 01_numpy_mlp --task adam-step
    """
    opened = OpenedLab.of(open_course(root), lab)
    some = opened.chosen(names)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "calls")
        with opened.prepare({FILE: str(path)}) as process:
            answer = process.answer({task.name: noting(task) for task in some})
        if lost := [f"{key}: {one.why}" for key, one in answer.tests.items() if not one.full]:
            raise SourceError(f"the solution does not earn full marks: {'; '.join(lost)}")
        seen = read_seen(path.read_text(encoding="utf-8").splitlines() if path.is_file() else [])
    for line in show_holes(some, seen):
        click.echo(line)
