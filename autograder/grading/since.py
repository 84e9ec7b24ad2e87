"""What of a lab is not as it was when it was graded: submissions that came since, tests that were changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from autograder.course import Course
from autograder.errors import SubmissionError
from autograder.model import Status
from autograder.records.fingerprint import hash_of_files, row_hashes
from autograder.records.log import Log
from autograder.submission.handin import read_handin

__all__ = ["Since", "since_graded"]

_NOT_GRADED = {Status.MISSING, Status.FAILED}


@dataclass(frozen=True)
class Since:
    """Students whose score is of something else than what is there now.

    Attributes:
        anew: who has handed in otherwise since.
        never: who has handed in, and was never graded.
        tested: whose score is of tests, or of other cells, that were changed since.
    """

    anew: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()


def since_graded(course: Course, lab: str) -> Since:
    """Return who has to be graded again, as far as that is seen without running anything."""
    lines = Log(course.state / f"{lab}.jsonl").last_lines()
    rows = course.notebooks(lab)
    cells = row_hashes(rows)
    anew, never, tested = [], [], []
    for student in sorted(course.submitters(lab)):
        line = lines.get(student)
        if line is None or line.result is None or line.result.status in _NOT_GRADED:
            never.append(student)
        elif line.basis is not None:
            if line.basis.content and line.basis.content != _content(course, lab, list(rows), student):
                anew.append(student)
            elif line.basis.tests != cells:
                tested.append(student)
    return Since(tuple(anew), tuple(never), tuple(tested))


def _content(course: Course, lab: str, names: Collection[str], student: str) -> str:
    """Return the hash of a submission; of one that cannot be read, one that no submission has."""
    try:
        return hash_of_files(read_handin(course, lab, names, student).content())
    except (OSError, SubmissionError):
        return "unread"
