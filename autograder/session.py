"""What a person at a terminal gets while grading: the sandbox chosen, progress, a table, pages, a CSV file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from autograder.course import open_course
from autograder.errors import CourseError
from autograder.execute import Executor
from autograder.files import write_whole
from autograder.grade import Grading, Outcome
from autograder.model import Result, Status
from autograder.report import export_csv, write_feedback
from autograder.sandbox import choose
from autograder.store import Log

__all__ = ["export_grades", "feedback_lab", "grade_lab", "plan_lab", "show_table"]

_COLOURS = {Status.GRADED: "green", Status.FAILED: "bold red", Status.MISSING: "dim"}


def grade_lab(
    root: Path, lab: str, students: Sequence[str], *, workers: int, force: bool, as_json: bool
) -> list[Outcome]:
    """Grade, show progress on stderr, and print a table, or a JSON line a student as it is stored, on stdout."""
    grading = _grading(root, lab)
    chosen = grading.students(students)
    if not chosen:
        raise CourseError(
            f"{lab}: nobody has handed in anything",
            hint=f"submissions go into {grading.course.submitted('STUDENT', lab)}",
        )
    outcomes = []
    for outcome in _with_progress(grading.run(chosen, workers=workers, force=force), len(chosen), lab):
        outcomes.append(outcome)
        if as_json:
            print(json.dumps(_public(outcome), ensure_ascii=False), flush=True)
    if not as_json:
        show_table(outcomes)
    return outcomes


def plan_lab(root: Path, lab: str, students: Sequence[str], *, force: bool) -> Iterator[tuple[str, str]]:
    """Yield each student and why they would, or would not, be graded now."""
    grading = _grading(root, lab)
    yield from grading.plan(grading.students(students), force=force)


def feedback_lab(root: Path, lab: str, students: Sequence[str]) -> Iterator[Path]:
    """Write the feedback page of every graded submission, or of these students'."""
    course = open_course(root)
    course.notebooks(lab)
    results = {s: r for s, r in Log(course.state() / f"{lab}.jsonl").latest().items() if r.cells}
    if missing := sorted(set(students) - set(results)):
        raise CourseError(f"{missing[0]}: {lab} has not been graded", hint=f"autograder grade {lab}")
    if not results:
        raise CourseError(f"{lab}: nothing has been graded", hint=f"autograder grade {lab}")
    for student in sorted(students or results):
        yield from write_feedback(course, results[student])


def export_grades(root: Path, target: Path, lab: str | None) -> int:
    """Write the CSV file; return its number of rows. A file that is not an earlier export is left alone."""
    course = open_course(root)
    if lab is not None:
        course.notebooks(lab)
    rows = course.scores(lab)
    text = export_csv(rows)
    header = text.split("\n", 1)[0]
    if target.exists() and target.read_text(encoding="utf-8", errors="replace").split("\n", 1)[0] != header:
        raise CourseError(
            f"{target}: is there already and is not an export", hint="choose another name, or move it away"
        )
    write_whole(target, text.encode())
    return len(rows)


def show_table(outcomes: Sequence[Outcome]) -> None:
    """Print student, points, status and where to look, in the order of the students."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("s", justify="right", no_wrap=True)
    table.add_column("where to look", overflow="fold")
    for outcome in sorted(outcomes, key=lambda o: o.result.student):
        result = outcome.result
        status = f"[{_COLOURS.get(result.status, 'yellow')}]{result.status}[/]"
        seconds = "-" if outcome.unchanged else f"{result.seconds:.1f}"
        points = f"{result.score:g}/{result.max_score:g}"
        table.add_row(_plain(result.student), points, status, seconds, _plain(_look(result)))
    console = Console(highlight=False)
    console.width = max(console.width, 100) if not console.is_terminal else console.width
    console.print(table)


def _grading(root: Path, lab: str) -> Grading:
    sandbox = choose()
    if not sandbox.isolated:
        Console(stderr=True, highlight=False).print(
            f"no sandbox: {_plain(sandbox.why_not)}", style="yellow", soft_wrap=True
        )
    return Grading(open_course(root), lab, Executor(sandbox))


def _with_progress(outcomes: Iterator[Outcome], total: int, lab: str) -> Iterator[Outcome]:
    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn(lab),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(lab, total=total, last="")
        for number, outcome in enumerate(outcomes, 1):
            result = outcome.result
            progress.update(task, advance=1, last=_plain(f"{result.student}: {result.status}"))
            if not console.is_terminal:
                console.print(f"{lab} {number}/{total} {_plain(result.student)}: {result.status}", soft_wrap=True)
            yield outcome


def _public(outcome: Outcome) -> dict[str, object]:
    result = outcome.result.to_dict()
    keys = ("student", "lab", "status", "score", "max_score", "seconds", "messages", "sandbox", "isolated")
    return {**{key: result[key] for key in keys}, "unchanged": outcome.unchanged}


def _look(result: Result) -> str:
    """Say in one line where points were lost and what a person has to know."""
    lost = [
        f"{c.grade_id} {c.points:g}/{c.max_points:g}"
        for c in result.cells
        if c.points is not None and c.points < c.max_points
    ]
    checks = [f"{len(lost)} checks lost points" if len(lost) > 3 else ", ".join(lost)] if lost else []
    return "; ".join([*(m.splitlines()[0] for m in result.messages), *checks])


def _plain(text: str) -> str:
    """Student text is data: no markup, no control characters."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return printable.replace("[", r"\[")
