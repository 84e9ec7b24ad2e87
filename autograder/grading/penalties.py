"""Applies late penalties again to submissions that need not be run again: a due date or a policy may have changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from autograder.course import Course
from autograder.errors import AutograderError, in_one_line, listed
from autograder.grading.lock import only_run
from autograder.model import GradebookEntry, Result, Status
from autograder.records.log import Basis, Log

__all__ = ["Penalties", "apply_again"]


@dataclass(frozen=True)
class _Change:
    """What one student's submission would lose now, by notebook, and the times that this comes from."""

    penalties: dict[str, float]
    basis: Basis


class Penalties:
    """What submissions lose for being late by today's due dates, extensions and policy, compared with the log."""

    def __init__(self, course: Course, lab: str, log: Log) -> None:
        self._course = course
        self._lab = lab
        self._log = log
        self._today = course.penalties(lab)
        self._late = course.lateness(lab)
        self._lines = log.graded()

    def changed(self, result: Result, stored: GradebookEntry) -> bool:
        """Whether this result of an earlier run holds another penalty than it would get now, or another due date."""
        return self._change(result, stored) is not None

    def outdated(self, result: Result, stored: GradebookEntry) -> bool:
        """Whether the gradebook holds another penalty than today's, also where it is not ours to change."""
        today = math.fsum(self._today.get(result.student, {}).values())
        return result.student in self._today and not math.isclose(today, stored.penalty, abs_tol=1e-9)

    def apply(self, result: Result, stored: GradebookEntry) -> tuple[Result, GradebookEntry] | None:
        """Store a penalty that has changed in gradebook and log; return result and entry, or None if none has."""
        if (change := self._change(result, stored)) is None:
            return None
        self._course.set_penalties(self._lab, result.student, change.penalties)
        now = self._course.score(result.student, self._lab)
        graded_at = datetime.now(UTC).isoformat(timespec="seconds")
        result = replace(result, score=now.score, max_score=now.max_score, penalty=now.penalty, graded_at=graded_at)
        self._log.append(result, change.basis)
        return result, now

    def _change(self, result: Result, stored: GradebookEntry) -> _Change | None:
        line, late = self._lines.get(result.student), self._late.get(result.student)
        then = line.basis if line else None
        if late is None or then is None or result.student not in self._today:
            return None  # a line of an older version, or a course without penalties
        if then.handed_in != late.handed_in:
            return None  # no due date explains that: somebody edited the gradebook, and `verify` has to say so
        penalties = self._today[result.student]
        basis = replace(then, due=late.due, extension_s=late.extension_s)
        total = math.fsum(penalties.values())
        held = (stored.penalty, total if result.penalty is None else result.penalty)
        same = basis == then and all(math.isclose(total, one, abs_tol=1e-9) for one in held)
        return None if same else _Change(penalties, basis)


def apply_again(course: Course, lab: str) -> Iterator[str]:
    """Apply the penalties of a lab again before its grades are read; yield lines for a person, if any changed.

    Points given by hand change them as well as due dates do. Where that is not possible the line says what to do.
    """
    log = Log(course.state / f"{lab}.jsonl")
    if not log.path.exists():
        return
    try:
        penalties, latest = Penalties(course, lab, log), log.latest()
        stored = {entry.student: entry for entry in course.scores(lab)}
    except AutograderError as error:
        yield f"{lab}: grades may be out of date: {in_one_line(error)}"
        return
    graded = {student: line.result for student, line in log.graded().items() if line.result and student in stored}
    done, left = [], []
    try:
        for student, result in sorted(graded.items()):
            before = stored[student]
            if latest[student].status != Status.FAILED and penalties.changed(result, before):
                with only_run(course):
                    applied = penalties.apply(result, before)
                if applied and not math.isclose(applied[1].penalty, before.penalty, abs_tol=1e-9):
                    done.append(f"{student} ({before.penalty:g}, now {applied[1].penalty:g})")
            elif penalties.outdated(result, before):
                left.append(student)
    except (AutograderError, OSError) as error:
        why = in_one_line(error) if isinstance(error, AutograderError) else error.strerror
        yield f"{lab}: grades are out of date, penalties for being late changed: {why}; then: autograder grade {lab}"
    if done:
        yield f"{lab}: the penalty for being late was applied again: {listed(done)}"
    if left:
        what = f"{lab}: grades are out of date, the penalty for being late is another one today"
        yield f"{what}: {listed(left)}; autograder grade {lab} --student S --force"
