"""The report command: one page about a class."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from autograder.commands.common import COURSE, LAB, STUDENTS, command, may_replace, say_late, stderr
from autograder.commands.feedback import graded
from autograder.commands.notes import notes_on_changes, nothing_graded
from autograder.commands.table import plain
from autograder.course import Course, open_course
from autograder.files import write_whole
from autograder.model import Status
from autograder.records.log import Log
from autograder.records.removed import gone
from autograder.reports.class_report import MARK, class_page, class_statistics
from autograder.reports.feedback import PRIVATE, private_pages, titles_of
from autograder.reports.same_answers import same_answers

__all__ = ["report", "report_lab", "report_students"]


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
@STUDENTS
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON; no page, unless --to is given.")
@command
def report(lab: str, root: Path, target: Path | None, students: tuple[str, ...], as_json: bool) -> None:
    """Write one HTML page about LAB: the spread of scores, which tasks and cases failed, whom to look at, the slowest.

    With --student a page about that submission, for you alone: the student's feedback with what hidden cases expected
    and got. It goes to LAB_STUDENT_report.html; with the notebook's name, where that is not the lab's.

    \b
    Examples:
      autograder report 01_numpy_mlp
      autograder report 01_numpy_mlp --json
      autograder report 01_numpy_mlp --student ann
    """
    if students and (target or as_json):
        raise click.UsageError("--student writes pages of its own: without --to and --json")
    if students:
        for page in report_students(root, lab, students):
            click.echo(str(page))
        return
    if path := report_lab(root, lab, target, as_json=as_json):
        click.echo(str(path), err=as_json)


def report_lab(root: Path, lab: str, target: Path | None, *, as_json: bool) -> Path | None:
    """Write the class report of a lab, or print its numbers as JSON; return the page that was written."""
    course = open_course(root)
    rows = course.notebooks(lab)
    say_late(course, lab)
    log = Log(course.state / f"{lab}.jsonl")
    left = gone(course, log)
    results = {student: result for student, result in log.latest().items() if student not in left}
    scores = course.scores(lab)
    if not scores and all(result.status == Status.MISSING for result in results.values()):
        stderr().print(plain(f"note: {nothing_graded(lab, lab)}"), soft_wrap=True, markup=False)
    found = class_statistics(
        lab,
        rows,
        results,
        scores,
        course.roster(),
        titles=_titles(course, lab, rows),
        alike=same_answers(course, lab, list(rows), sorted(s for s, result in results.items() if result.cells)),
    )
    if as_json:
        print(json.dumps(found, indent=2))
    if as_json and target is None:
        return None
    _say_changes(course, lab)
    path = target or course.root / f"{lab}_report.html"
    may_replace(path, ours=_holds(path, MARK), what="is no class report")
    write_whole(path, class_page(found).encode("utf-8", "replace"))
    return path


def report_students(root: Path, lab: str, students: Sequence[str]) -> Iterator[Path]:
    """Write a page for the instructor about each of these students' submissions of a lab; yield them."""
    course = open_course(root)
    course.notebooks(lab)
    say_late(course, lab)
    results = graded(course, lab, students)
    for student in dict.fromkeys(students):
        for name, page in private_pages(course, results[student]):
            which = f"{lab}_{student}" if name == lab else f"{lab}_{student}_{name}"
            path = course.root / f"{which}_report.html"
            may_replace(path, ours=_holds(path, PRIVATE), what="is no report on a submission")
            write_whole(path, page.encode("utf-8", "replace"))
            yield path
    _say_changes(course, lab)


def _say_changes(course: Course, lab: str) -> None:
    for note in notes_on_changes(course, lab):
        stderr().print(plain(f"note: {note}"), soft_wrap=True, markup=False)


def _titles(course: Course, lab: str, names: Iterable[str]) -> dict[str, str]:
    """Return the headings above the graded cells of the students' version, by notebook/grade_id."""
    titles: dict[str, str] = {}
    for name in names:
        found = titles_of(course, lab, name)
        titles |= {(f"{name}/{grade_id}" if grade_id else ""): words for grade_id, words in found.items()}
    return titles


def _holds(path: Path, mark: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return mark.encode() in file.read(1000)
