"""What nbgrader's commands that release, grade and write feedback do in a course that has handed them over.

Formgrader's icons do the same.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from autograder.commands.feedback import feedback_lab
from autograder.commands.release import prove
from autograder.commands.table import messages, plain
from autograder.course import Course, open_course, refuse_excluded
from autograder.errors import AutograderError, CourseError, listed
from autograder.execution.warm import warm
from autograder.grading.lab_grading import Grading
from autograder.grading.lock import only_run
from autograder.grading.outcome import Outcome
from autograder.grading.placement import modules
from autograder.grading.secrets import reached_by_hidden
from autograder.model import Status
from autograder.release.publish import release_labs

__all__ = ["feedback", "grade", "reached_by_hidden", "release"]

_WELL = {Status.GRADED, Status.MISSING}


def release(root: Path, lab: str, _student: str, log: logging.Logger) -> None:
    """Release a lab, as `autograder release` does: nothing that no release wrote is written over."""
    for line in release_labs(root, (lab,), prove):
        log.info("%s", plain(line))


def grade(root: Path, lab: str, student: str, log: logging.Logger, *, force: bool) -> None:
    """Grade the submissions of a lab, or this student's, as `autograder grade` does.

    student: a name, or a pattern of names. Raises AutograderError if one could not be graded.
    """
    outcomes = warm().run(lambda: _graded(root, lab, student, log, force=force))
    if failed := [outcome.result.student for outcome in outcomes if outcome.result.status == Status.FAILED]:
        raise AutograderError(f"{lab}: not graded: {listed(failed)}", hint="the messages above say why")


def feedback(root: Path, lab: str, student: str, log: logging.Logger) -> None:
    """Write the pages of the students of a lab, or this student's, as `autograder feedback` does."""
    course = open_course(root)
    chosen = () if student == "*" else _chosen(course, lab, student)
    for page in feedback_lab(root, lab, chosen):
        log.info("Feedback: %s", page)


def _graded(root: Path, lab: str, student: str, log: logging.Logger, *, force: bool) -> list[Outcome]:
    course = open_course(root)
    course.notebooks(lab)
    chosen = _chosen(course, lab, student)
    with only_run(course):
        grading = Grading(course, lab, warm().executor(modules(course, lab)))
        for note in (*grading.setup.modes.notes, *filter(None, [grading.executor.sandbox.remark])):
            log.warning("%s", plain(note))
        outcomes = []
        for outcome in grading.run(chosen, force=force):
            outcomes.append(outcome)
            _say(log, outcome)
    return outcomes


def _chosen(course: Course, lab: str, student: str) -> Sequence[str]:
    """Return who is meant: everybody who handed in, one student, or those whose names fit a pattern."""
    refuse_excluded([student], course.excluded)
    everybody = course.submitters(lab)
    if student in everybody:
        return [student]
    if not (found := [name for name in everybody if fnmatchcase(name, student)]):
        raise CourseError(
            f"{lab}: nothing handed in by {'anybody' if student == '*' else student}",
            hint=f"submissions go into {course.submitted('STUDENT', lab)}",
        )
    return found


def _say(log: logging.Logger, outcome: Outcome) -> None:
    result = outcome.result
    said = "; ".join(messages(outcome))
    line = f"{result.student}: {result.status}, {result.score:g} of {result.max_score:g}{said and ': '}{said}"
    log.log(logging.INFO if result.status in _WELL else logging.WARNING, "%s", plain(line))
