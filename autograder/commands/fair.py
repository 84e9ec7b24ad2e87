"""The fair command: which right answers a lab's checks refuse."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.commands.common import COURSE, LAB, command
from autograder.commands.opened_lab import OpenedLab
from autograder.course import Course, open_course
from autograder.errors import AutograderError, counted
from autograder.proof import Task, Trial, code_of, source_hash
from autograder.proof.forms import REFUSED, Fairness, fairness_of, forms_of, read_refused, show_refused

__all__ = ["fair"]


@click.command(short_help="Say which right answers the checks of a lab would refuse.")
@LAB
@click.option("--task", "names", multiple=True, metavar="T", help="Only this task, by its grade_id; may be repeated.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes side by side.")
@click.option("--write", is_flag=True, help="Keep the numbers in docs/proof, for docs/proof.md.")
@click.option("--check", is_flag=True, help="Exit 1 if a form is refused and no text says so.")
@COURSE
@command
def fair(lab: str, names: tuple[str, ...], jobs: int, write: bool, check: bool, root: Path) -> None:
    """Say which right answers the checks of a lab would refuse.

    The solution's results are given back in other forms: NumPy's scalar for a number, an int for a whole float, an
    array in another order of memory, a subclass, a tensor that asks for its gradient, a named tuple, and so on. A
    form that loses a point asks for one of two answers: a check that takes it, or an entry in the lab's refused.toml
    with the words of the task that promise another form.

    \b
    Example:
      autograder fair 01_numpy_mlp --jobs 2
    """
    if write and names:
        raise click.UsageError("--write keeps the numbers of a whole lab: leave out --task")
    course = open_course(root)
    tasks, trials, said, found = _try(course, lab, names, jobs)
    for line in show_refused(trials, said, tasks):
        click.echo(line)
    click.echo(
        f"\n{lab}: {counted(found.tried, 'form')} of right results tried, {found.said} refused as the text says, "
        f"{found.refused} refused"
    )
    if write:
        click.echo(f"{found.write(course.root)}: written", err=True)
    if check and found.refused:
        raise AutograderError(
            f"{lab}: {counted(found.refused, 'form')} refused, and no text says so",
            hint=f"a check that takes it, or an entry in {REFUSED}",
        )


def _try(
    course: Course, lab: str, names: tuple[str, ...], jobs: int
) -> tuple[dict[str, Task], list[Trial], dict[tuple[str, str, str], str], Fairness]:
    """Return the tasks, what became of each form of these or of all, what the text refuses, and the counts."""
    opened = OpenedLab.of(course, lab)
    path = opened.folder / REFUSED
    forms = [form for task in opened.chosen(names) for form in forms_of(task)]
    said = {key: text for key, text in read_refused(path, opened.tasks).items() if not names or key[0] in names}
    trials = opened.tried(forms, "forms", course.state / "proof" / f"{lab}.forms.jsonl", jobs)
    source = source_hash(code_of(opened.notebook), path)
    return opened.tasks, trials, said, fairness_of(lab, source, trials, said, path)
