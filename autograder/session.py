"""What a person at a terminal gets while grading: the sandbox chosen, progress, a table, pages."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

from autograder.course import Course, open_course
from autograder.errors import AutograderError, CourseError
from autograder.execute import Executor
from autograder.grade import Grading, Outcome
from autograder.modes import modules
from autograder.report import write_feedback
from autograder.runner import Cluster, Threads
from autograder.sandbox import choose, gpu_nodes
from autograder.store import Log
from autograder.table import messages, plain, show_table, summary

__all__ = ["feedback_lab", "grade_lab", "plan_lab"]


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
        executors = [open_here.enter_context(executor) for executor in _executors(course, lab, gpus)]
        grading = _grading(course, lab, executors[0])
        chosen = _chosen(grading, students)
        runner = Cluster(grading.setup, scheduler) if scheduler else Threads(grading.setup, workers, executors[1:])
        outcomes = []
        with closing(grading.run(chosen, force=force, runner=runner)) as run:
            for outcome in _with_progress(run, len(chosen), lab):
                outcomes.append(outcome)
                if as_json:
                    print(json.dumps(_public(outcome)), flush=True)
    if not as_json:
        show_table(outcomes)
    for line in [*summary(outcomes), f"log head {grading.log.head or 'none'}"]:
        _stderr().print(line, soft_wrap=True, markup=False)
    return outcomes


def plan_lab(root: Path, lab: str, students: Sequence[str], *, force: bool) -> Iterator[tuple[str, str]]:
    """Yield each student and why they would, or would not, be graded now."""
    grading = _grading(open_course(root), lab, Executor(choose()))
    yield from grading.plan(grading.students(students), force=force)


def feedback_lab(root: Path, lab: str, students: Sequence[str]) -> Iterator[Path]:
    """Write the feedback page of every graded submission, or of these students'; one that fails stops no other."""
    course = open_course(root)
    course.notebooks(lab)
    results = {s: r for s, r in Log(course.state / f"{lab}.jsonl").latest().items() if r.cells}
    if missing := sorted(set(students) - set(results)):
        raise CourseError(f"{missing[0]}: {lab} has not been graded", hint=f"autograder grade {lab}")
    if not results:
        raise CourseError(f"{lab}: nothing has been graded", hint=f"autograder grade {lab}")
    failures = []
    for student in sorted(set(students) or results):
        try:
            yield from write_feedback(course, results[student])
        except AutograderError as error:
            failures.append(error)
    if failures:
        raise failures[0]


def _executors(course: Course, lab: str, gpus: Sequence[int]) -> Iterator[Executor]:
    """Yield one executor, or one for each GPU, with what the lab uses imported."""
    names = modules(course, lab)
    for number in gpus or (None,):
        yield Executor(choose(), names, devices=() if number is None else gpu_nodes(number))


def _grading(course: Course, lab: str, executor: Executor) -> Grading:
    if remark := plain(executor.sandbox.remark):
        _stderr().print(remark, style="yellow", soft_wrap=True, markup=False)
    grading = Grading(course, lab, executor)
    for note in grading.setup.modes.notes:
        _stderr().print(f"note: {plain(note)}", style="yellow", soft_wrap=True, markup=False)
    return grading


def _chosen(grading: Grading, students: Sequence[str]) -> list[str]:
    chosen = grading.students(students)
    if not chosen:
        raise CourseError(
            f"{grading.lab}: nobody has handed in anything",
            hint=f"submissions go into {grading.course.submitted('STUDENT', grading.lab)}",
        )
    return chosen


def _stderr() -> Console:
    return Console(stderr=True, highlight=False)


def _with_progress(outcomes: Iterator[Outcome], total: int, lab: str) -> Iterator[Outcome]:
    console = _stderr()
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
            line = f"{plain(outcome.result.student)}: {outcome.result.status}"
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
    return shown | {"to_grade": outcome.to_grade, "unchanged": outcome.unchanged, "was": outcome.was}
