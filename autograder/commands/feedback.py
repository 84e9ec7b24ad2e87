"""The feedback command: one page a student."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import click

from autograder.commands.common import COURSE, LAB, STUDENTS, SYSTEM_HINTS, command, may_replace, say_late, stderr
from autograder.commands.notes import notes_on_changes, notes_on_scores
from autograder.commands.table import plain
from autograder.course import Course, open_course, refuse_excluded
from autograder.course.exchange import OURS
from autograder.errors import AutograderError, CourseError, counted, in_one_line, listed
from autograder.files import write_whole
from autograder.model import Result, Status
from autograder.records.log import Log
from autograder.records.removed import GONE, LEFT, gone
from autograder.reports.exchange import put_beside
from autograder.reports.feedback import write_feedback

__all__ = ["feedback", "feedback_lab", "graded"]

_ELSEWHERE = "not handed in through nbgrader's exchange, so fetch_feedback does not find their pages"
_SEND = "send them the files, or pack them with --zip"
_BEGINNING = 4000
_AGAIN = "fix that, then grade again"


@click.command(short_help="Write a page for each student.")
@LAB
@COURSE
@STUDENTS
@click.option(
    "--zip",
    "archive",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Pack the pages, a folder a student, and nothing else.",
)
@command
def feedback(lab: str, root: Path, students: tuple[str, ...], archive: Path | None) -> None:
    """Write one HTML page a submission, feedback/<student>/LAB/, with the gradebook's scores and comments.

    In a course with an exchange `nbgrader release_feedback LAB`, or formgrader, hands them out. Where students handed
    in through an LMS, send them the pages, or what --zip packs.

    \b
    Examples:
      autograder feedback 01_numpy_mlp
      autograder feedback 01_numpy_mlp --zip pages.zip
    """
    if archive is not None:
        may_replace(archive, ours=_packed_before(archive), what="is no zip file of such pages")
    pages: list[tuple[str, Path]] = []
    try:
        for student, path in _pages(root, lab, students):
            click.echo(str(path))
            pages.append((student, path))
    finally:
        if archive is not None and pages:
            _pack(archive, pages)
            click.echo(f"{archive}: {counted(len(pages), 'page')}")


def _packed_before(archive: Path) -> bool:
    """Whether this is what --zip wrote before: nothing but STUDENT/NOTEBOOK.html, each a page of ours."""
    try:
        with zipfile.ZipFile(archive) as found:
            return all(
                info.filename.count("/") == 1 and info.filename.endswith(".html") and _is_page(found.open(info))
                for info in found.infolist()
            )
    except (OSError, zipfile.BadZipFile):
        return False


def _is_page(file: IO[bytes]) -> bool:
    with file:
        return OURS.encode() in file.read(_BEGINNING)


def _pack(archive: Path, pages: Sequence[tuple[str, Path]]) -> None:
    """Write STUDENT/NOTEBOOK.html of each page into a zip file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for student, page in pages:
            target.write(page, f"{student}/{page.name}")
    try:
        write_whole(archive, content.getvalue())
    except OSError as error:
        raise CourseError(f"{archive}: {error.strerror or error}", hint="name a file that can be written") from error


def feedback_lab(root: Path, lab: str, students: Sequence[str]) -> Iterator[Path]:
    """Write the feedback page of every graded submission, or of these students'; one that fails stops no other."""
    return (page for _, page in _pages(root, lab, students))


def _pages(root: Path, lab: str, students: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Yield each student's pages as they are written."""
    course = open_course(root)
    course.notebooks(lab)
    say_late(course, lab)
    results = graded(course, lab, students)
    failures, fetched = [], {}
    for student in sorted(set(students) or results):
        try:
            yield from ((student, page) for page in write_feedback(course, results[student]))
            fetched[student] = put_beside(course, student, lab)
        except AutograderError as error:
            failures.append(error)
        except OSError as error:
            if error.errno in SYSTEM_HINTS:  # no other page could be written
                raise
            what = f"{student}: {error.filename or 'the page'}: {error.strerror or error}"
            failures.append(CourseError(what, hint=f"mend that, then: autograder feedback {lab} --student {student}"))
    if others := [student for student in fetched if not fetched[student]]:
        who = listed(others) if any(fetched.values()) else f"all {len(others)}" if len(others) > 1 else others[0]
        stderr().print(plain(f"note: {_ELSEWHERE}: {who}; {_SEND}"), soft_wrap=True, markup=False)
    own = [score for score in course.scores(lab) if score.student in fetched]
    for note in [*notes_on_scores(own), *notes_on_changes(course, lab)]:
        stderr().print(plain(f"note: {note}"), soft_wrap=True, markup=False)
    for failure in failures[1:]:
        stderr().print(plain(f"error: {in_one_line(failure)}"), soft_wrap=True, markup=False)
    if failures:
        raise failures[0]


def graded(course: Course, lab: str, students: Sequence[str]) -> dict[str, Result]:
    """Return what was graded of a lab by student; CourseError if there is nothing, or nothing of one of these."""
    log = Log(course.state / f"{lab}.jsonl")
    left = gone(course, log)
    results = {s: e.result for s, e in log.graded().items() if e.result and e.result.cells and s not in left}
    for student in sorted(set(students) - set(results)):
        raise _no_page(course, lab, student, log)
    if not results:
        raise CourseError(f"{lab}: nothing has been graded", hint=f"autograder grade {lab}")
    return results


def _no_page(course: Course, lab: str, student: str, log: Log) -> CourseError:
    """Return the error for a student of whom there is nothing to write."""
    refuse_excluded([student], course.excluded)
    latest = log.latest().get(student)
    if student in gone(course, log):
        return CourseError(f"{student}: {GONE}", hint=LEFT)
    if latest is None and student not in {*course.submitters(lab), *course.roster()}:
        return CourseError(
            f"{student}: no such student", hint=f"graded for {lab}: {listed(sorted(log.graded())) or 'nobody'}"
        )
    if not any(course.submitted(student, lab).glob("*.ipynb")):
        return CourseError(
            f"{student}: nothing handed in for {lab}, so there is no page", hint="leave this student out"
        )
    if latest is not None and latest.status == Status.FAILED:
        return CourseError(f"{student}: {lab} could not be graded: {'; '.join(latest.messages)}", hint=_AGAIN)
    return CourseError(f"{student}: {lab} has not been graded", hint=f"autograder grade {lab} --student {student}")
