"""The grade command: the sandbox is chosen, each submission graded, the progress and a table shown."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

from autograder.commands.common import COURSE, LAB, STUDENTS, command, stderr
from autograder.commands.notes import lost_by_solution, notes_on, notes_on_nbgrader, notes_on_removed, preparing
from autograder.commands.table import messages, plain, show_table, summary
from autograder.course import Course, open_course
from autograder.errors import AutograderError, CourseError
from autograder.execution import Executor
from autograder.grading.lab_grading import Grading
from autograder.grading.lock import only_run
from autograder.grading.outcome import Outcome
from autograder.grading.placement import modules
from autograder.grading.workers import Cluster, Threads
from autograder.model import CellScore
from autograder.sandbox import choose, find_gpu

__all__ = ["grade", "grade_lab", "plan_lab"]

_ONE_AT_A_TIME = (
    "one submission at a time: in this sandbox they would share what one user may have (--workers is left out)"
)


@click.command(short_help="Grade the submissions of a lab, each in a sandbox.")
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


def grade_lab(
    root: Path,
    lab: str,
    students: Sequence[str],
    *,
    workers: int,
    force: bool,
    as_json: bool,
    scheduler: str = "",
    gpus: Sequence[int] = (),
) -> list[Outcome]:
    """Grade, show progress on stderr, and print a table, or a JSON line a student as it is stored, on stdout.

    scheduler: address of a Dask cluster that runs the submissions; else this machine does, `workers` side by side, or
    one on each of these gpus.
    """
    course = open_course(root)
    with ExitStack() as open_here:
        course.notebooks(lab)  # a lab that is not there is an error before anything is written
        open_here.enter_context(only_run(course))  # the trial of a foreign lab's tests comes first, and takes minutes
        with preparing() as say:
            executors = [open_here.enter_context(executor) for executor in _executors(course, lab, gpus, say)]
            grading = _grading(course, lab, executors[0], say)
            chosen = _chosen(grading, students)
            if executors[0].sandbox.one_at_a_time and workers > 1:
                _note([_ONE_AT_A_TIME])
            _note([*grading.setup.modes.notes, *notes_on(course, lab), *notes_on_removed(course, lab, chosen)])
            to_run = grading.has_to_run(chosen, force=force)
            lost = lost_by_solution(course, lab, executors[0], say) if to_run else []
            if to_run and not scheduler:
                executors[0].warm()
        _note(f"{lab}: its own solution loses points, and so will students: {line}" for line in lost)
        _note(notes_on_nbgrader(course) if to_run else ())
        runner = Cluster(grading.setup, scheduler) if scheduler else Threads(grading.setup, workers, executors[1:])
        outcomes: list[Outcome] = []
        try:
            with closing(grading.run(chosen, force=force, runner=runner)) as run:
                for outcome in _with_progress(run, len(chosen), lab):
                    outcomes.append(outcome)
                    if as_json:
                        print(json.dumps(_public(outcome)), flush=True)
        except Exception:
            if outcomes and not as_json:
                show_table(outcomes)  # what could be done before this ended the run
            raise
    if not as_json:
        show_table(outcomes)
    for line in [*summary(outcomes), f"log head {grading.log.head or 'none'}"]:
        stderr().print(line, soft_wrap=True, markup=False)
    return outcomes


def plan_lab(root: Path, lab: str, students: Sequence[str], *, force: bool) -> Iterator[tuple[str, str]]:
    """Yield each student and why they would, or would not, be graded now."""
    course = open_course(root)
    grading = _grading(course, lab, Executor(choose()))
    chosen = grading.students(students)
    _note([*grading.setup.modes.notes, *notes_on(course, lab, keep=False), *notes_on_removed(course, lab, chosen)])
    yield from grading.plan(chosen, force=force)


def _executors(course: Course, lab: str, gpus: Sequence[int], say: Callable[[str], None]) -> Iterator[Executor]:
    """Yield one executor, or one for each GPU, which import what the lab uses before the first notebook is run."""
    names = modules(course, lab)
    shown = [name for name in names if "." not in name]
    for number in gpus or (None,):
        gpu = None if number is None else find_gpu(number)
        begin = partial(say, f"{lab}: preparing a sandbox{' with ' * bool(shown)}{', '.join(shown)}")
        yield Executor(choose(), names, gpu=gpu, begin=begin)


def _grading(course: Course, lab: str, executor: Executor, say: Callable[[str], None] = lambda _line: None) -> Grading:
    if remark := plain(executor.sandbox.remark):
        stderr().print(remark, style="yellow", soft_wrap=True, markup=False)
    return Grading(course, lab, executor, say)


def _note(lines: Iterable[str]) -> None:
    console = stderr()
    for line in lines:
        console.print(f"note: {plain(line)}", style="yellow", soft_wrap=not console.is_terminal, markup=False)


def _chosen(grading: Grading, students: Sequence[str]) -> list[str]:
    chosen = grading.students(students)
    if not chosen:
        raise CourseError(
            f"{grading.lab}: nobody has handed in anything",
            hint=f"submissions go into {grading.course.submitted('STUDENT', grading.lab)}",
        )
    return chosen


def _with_progress(outcomes: Iterator[Outcome], total: int, lab: str) -> Iterator[Outcome]:
    console = stderr()
    rest = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    columns = (
        TextColumn(lab, markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[last]}", markup=False, table_column=rest),
    )
    with Progress(*columns, console=console, transient=True, expand=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(lab, total=total, last="", rate="")
        started, ran = time.monotonic(), 0
        for number, outcome in enumerate(outcomes, 1):
            line = f"{plain(outcome.result.student)}: {outcome.result.status}{', unchanged' * outcome.unchanged}"
            ran += not outcome.unchanged
            rate = f"{60 * ran / max(time.monotonic() - started, 0.1):.0f}/min" if ran else ""
            progress.update(task, advance=1, last=line, rate=rate)
            if not console.is_terminal:
                console.print(f"{lab} {number}/{total} {line}", soft_wrap=True, markup=False)
            yield outcome


def _public(outcome: Outcome) -> dict[str, object]:
    result = outcome.result.to_dict()
    keys = ("student", "lab", "status", "score", "max_score", "seconds", "messages", "sandbox", "isolated", "tests")
    shown = {key: result[key] for key in keys} | {"messages": messages(outcome)}
    shown |= {key: round(result[key], 9) for key in ("score", "max_score")}  # 14.7 and not 14.700000000000001
    checks = [_check(cell, outcome) for cell in outcome.result.cells]
    return shown | {"to_grade": outcome.to_grade, "unchanged": outcome.unchanged, "was": outcome.was, "cells": checks}


def _check(cell: CellScore, outcome: Outcome) -> dict[str, object]:
    """Return what one cell earned and why no more: the instructor reads it, so hidden cases are named too."""
    by_hand = outcome.by_hand.get(cell.key)
    failed = [{"title": case["title"], "hidden": case["hidden"], "message": case["message"]} for case in cell.failed]
    keys = ("notebook", "grade_id", "points", "max_points", "message")
    shown = {key: getattr(cell, key) for key in keys} | {"message": cell.whole or cell.message}
    return shown | {"by_hand": by_hand, "failed": failed}
