"""What of a lab is not as it was when it was graded: submissions that came since, tests that were changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autograder.course import Course
from autograder.errors import SubmissionError
from autograder.model import CellSpec, Result, Status
from autograder.records.fingerprint import hash_of_files, row_hashes
from autograder.records.log import Basis, Log
from autograder.submission.handin import read_handin

__all__ = ["ANEW", "NEVER", "Since", "changed_since", "since_graded", "unlogged"]

_NOT_GRADED = {Status.MISSING, Status.FAILED}
NEVER, ANEW = "never graded", "handed in anew since"
_TESTED = "tests or other cells of the lab were changed since"
_WORTH = "what its cells are worth was changed since"
_OTHER = "files or limits of the lab, the sandbox or installed packages were changed since"


@dataclass(frozen=True)
class Since:
    """Students whose score is of something else than what is there now.

    Attributes:
        anew: who has handed in otherwise since.
        never: who has handed in, and was never graded.
        tested: whose score is of tests, or of other cells, that were changed since.
        unread: whose file could not be read as the lab's notebook, and got 0 points without a look by a person.
        failed: who was graded, and has handed in nothing else since; the last grading failed.
    """

    anew: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def since_graded(course: Course, lab: str) -> Since:
    """Return who has to be graded again, as far as that is seen without running anything."""
    log = Log(course.state / f"{lab}.jsonl")
    lines, graded = log.last_lines(), log.graded()
    rows = course.notebooks(lab)
    cells = row_hashes(rows)
    anew, never, tested, unread, failed = list[str](), list[str](), list[str](), list[str](), list[str]()
    for student in sorted(course.submitters(lab)):
        line = lines.get(student)
        if line is None or line.result is None or line.result.status in _NOT_GRADED:
            then = graded[student].basis if student in graded else None
            again = then is not None and then.content and then.content == _content(course, lab, list(rows), student)
            (never if student not in graded else failed if again else anew).append(student)
            continue
        if line.basis is not None:
            found = _what(line.basis, _content(course, lab, list(rows), student), cells)
            {ANEW: anew, _TESTED: tested}.get(found, []).append(student)
        if line.result.status == Status.UNREADABLE and student not in anew and not _looked_at(course, lab, student):
            unread.append(student)
    return Since(*map(tuple, (anew, never, tested, unread, failed)))


def changed_since(earlier: Result, then: Basis, content: str, rows: Mapping[str, Sequence[CellSpec]]) -> str:
    """Return what of a submission that was graded is not as it was then, if something is not.

    then: what it was graded from, as the log says. content: a hash of what is handed in now.
    """
    if not then.tests:
        return f"{ANEW}, or {_OTHER}"  # the line of an older version
    worth = {f"{cell.notebook}/{cell.grade_id}": cell.max_points for cell in earlier.cells}
    now = {f"{name}/{row.grade_id}": row.points for name, own in rows.items() for row in own if row.grade or row.task}
    found = _what(then, content, row_hashes(rows)) or _OTHER
    return _WORTH if found != ANEW and worth.keys() == now.keys() and worth != now else found


def unlogged(log: Log) -> str:
    """Return why a submission is run that has a grade, and no whole line of this log."""
    if log.damaged:
        return "the autograder's log has no line of it that is whole: `autograder verify` says which are damaged"
    return "it has a grade that is not in the autograder's log: nbgrader itself gave it, or the log was deleted"


def _what(then: Basis, content: str, cells: Mapping[str, str]) -> str:
    if then.content and then.content != content:
        return ANEW
    return _TESTED if then.tests != cells else ""


def _looked_at(course: Course, lab: str, student: str) -> bool:
    """Whether a person has given points, and is not asked to look at them again."""
    cells = course.cells(lab, student).get(student, ())
    return any((cell.manual_score is not None or cell.extra_credit) and not cell.to_grade for cell in cells)


def _content(course: Course, lab: str, names: Collection[str], student: str) -> str:
    """Return the hash of a submission; of one that cannot be read, one that no submission has."""
    try:
        return hash_of_files(read_handin(course, lab, names, student).content())
    except (OSError, SubmissionError):
        return "unread"
