"""The feedback command: one page a student."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from autograder.commands.common import COURSE, LAB, STUDENTS, command, say_late
from autograder.course import open_course
from autograder.errors import AutograderError, CourseError
from autograder.records.log import Log
from autograder.reports.feedback import write_feedback

__all__ = ["feedback", "feedback_lab"]


@click.command(short_help="Write a page for each student.")
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
    for path in feedback_lab(root, lab, students):
        click.echo(str(path))


def feedback_lab(root: Path, lab: str, students: Sequence[str]) -> Iterator[Path]:
    """Write the feedback page of every graded submission, or of these students'; one that fails stops no other."""
    course = open_course(root)
    course.notebooks(lab)
    say_late(course, lab)
    lines = Log(course.state / f"{lab}.jsonl").graded()
    results = {student: line.result for student, line in lines.items() if line.result and line.result.cells}
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
