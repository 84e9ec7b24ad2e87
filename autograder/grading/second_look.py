"""What a foreign test would have given in one process with the student's code, where that may be something else.

Apart from that code a test meets copies and stand-ins. The trial on the instructor's notebook shows that nothing of his
is lost by that; a student may return an object of another kind. So a test that lost points, and met such an object, is
run again in the student's kernel, watched, and a person is told if it gives more there: an attack might. One whose
argument was changed, or what it had been given, or that was refused what it asked of an object, is run again too, and
the lower of the two counts: there its own list would be another, and no refusal would pass for the error that it waits
for.

In the kernel the student's code can read the test. So nothing that is said there is shown to students, tests with
hidden lines are not run there beside others, nor while another student's code runs in this process, which might be
told, and of these it counts only whether they give as much as apart: a number could spell out what stands in them, or
in another that ran there too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from autograder.execution import Checks, Execution
from autograder.execution.results import Report
from autograder.grading.scoring import put_points
from autograder.model import CellScore
from autograder.notebook import grade_id_of

__all__ = ["About", "second_look"]

_WALL = ("WireError", "cannot go to the test", "read-only")
"""In what a test says that has met a bound of the wire, or an array that is not its own."""


class Again(Protocol):
    """Runs the notebook with other checks; alone: while no other student's code runs."""

    def __call__(self, checks: Checks, *, alone: bool) -> tuple[Execution, Sequence[CellScore]]: ...


@dataclass(frozen=True)
class About:
    """What a second look has to know of the tests of a notebook.

    Attributes:
        hiding: those with hidden lines.
        along: for each test, others that run in the kernel with it: their hidden lines bind names that it uses.
        lowered: those in which the instructor's own notebook loses points there: no loss counts.
    """

    hiding: frozenset[str] = frozenset()
    along: Mapping[str, frozenset[str]] = field(default_factory=dict)
    lowered: frozenset[str] = frozenset()

    def moved(self, some: Collection[str]) -> frozenset[str]:
        """Return the tests that run in the kernel where these do."""
        return frozenset(some).union(*(self.along.get(name, ()) for name in some))

    def hides(self, name: str) -> bool:
        """Whether hidden lines lie in the student's kernel with this test."""
        return bool(self.moved([name]) & self.hiding)


def second_look(
    execution: Execution, scores: Sequence[CellScore], checks: Checks, again: Again, about: About
) -> tuple[list[CellScore], list[str]]:
    """Return the scores that count, and what a person has to know who grades: nothing of it is for students."""
    reports = execution.reports
    apart = [score for score in scores if score.grade_id in execution.isolated & reports.keys()]
    unsure = {score.grade_id for score in apart if _lost(score) and _by_the_wall(reports[score.grade_id])}
    changed = {score.grade_id: why for score in apart if score.points and (why := _why(reports[score.grade_id]))}
    changed = {name: why for name, why in changed.items() if name not in about.lowered}
    within = unsure | changed.keys()
    counted, said = list(scores), []
    hiding = frozenset(filter(about.hides, within))
    for some in (within - hiding, hiding):
        if some:
            moved = replace(checks, isolated=checks.isolated - about.moved(some), guarded=checks.guarded | some)
            other, found = again(moved, alone=some == hiding)
            there = {score.grade_id: score for score in found if score.grade_id in some and score.points is not None}
            counted = [_lower(score, there.get(score.grade_id), execution, changed, hiding) for score in counted]
            if not other.forged:
                said += [_more(score, there[score.grade_id]) for score in scores if _less(score, there)]
    return counted, [*_told(scores, counted), *said]


def _lower(
    score: CellScore,
    there: CellScore | None,
    execution: Execution,
    changed: Mapping[str, str],
    hiding: Collection[str],
) -> CellScore:
    """Return the score that counts of a test that was run in the kernel, too."""
    if there is None or score.grade_id not in changed or not _less(there, {score.grade_id: score}):
        return score
    given = 0.0 if score.grade_id in hiding else there.points or 0.0
    why = f"{changed[score.grade_id]}: graded in the student's kernel"
    for cell in (c for c in execution.notebook.cells if grade_id_of(c) == score.grade_id):
        put_points(cell, given, why)
    return replace(there, points=given, message=why, cases=())


def _less(score: CellScore, there: Mapping[str, CellScore]) -> bool:
    """Whether a score is less than the one of the same test there."""
    other = there.get(score.grade_id)
    return other is not None and score.points is not None and (other.points or 0.0) > score.points


def _more(score: CellScore, there: CellScore) -> str:
    return (
        f"{score.grade_id!r}: {score.points:g} of {score.max_points:g} apart from the student's code, "
        f"{there.points:g} in the student's kernel: an object of another class than yours? look at it"
    )


def _told(before: Sequence[CellScore], counted: Sequence[CellScore]) -> list[str]:
    """Return a line for each score that was lowered."""
    pairs = zip(before, counted, strict=True)
    return [
        f"{new.grade_id!r}: {new.message}: {new.points:g} of {new.max_points:g}, {old.points:g} apart from it"
        for old, new in pairs
        if new is not old
    ]


def _why(report: Report) -> str:
    """Return why what a test gives apart may be more than in one process; nothing if it is not."""
    if report.altered:
        return "an argument of the test was changed"
    if report.rewritten:
        return "what a call had returned was written to later"
    if report.written:
        return "the test wrote to what it had handed over, or had been given"
    return "the test asked what cannot be asked apart from the student's code" if report.refused else ""


def _by_the_wall(report: Report) -> bool:
    """Whether the test may have seen something else in one process: another object, its own list, a writable array."""
    failure = report.failure
    texts = [f"{failure.name}: {failure.value}"] if failure else []
    texts += [f"{case['error']}: {case['message']}" for case in report.cases or () if not case["passed"]]
    return report.met or report.altered or report.rewritten or any(words in text for words in _WALL for text in texts)


def _lost(score: CellScore) -> bool:
    return score.points is not None and score.points < score.max_points
