"""What a foreign test would have given in one process with the student's code, where that may be something else.

Apart from that code a test meets copies and stand-ins. The trial on the instructor's notebook shows that nothing of his
is lost by that; a student may return an object of another kind. So a test that lost points, and met such an object, is
run again in the student's kernel, watched, and a person is told if it gives more there: an attack might. One that was
refused what it asked of an object is run there, too, and the lower of the two counts: no refusal passes there for the
error that it waits for. One whose argument was changed, or what it had been given, is run again apart, with what both
sides have kept as one object (see boundary.mirror), and the lower counts: in one process its own list is another.

In the kernel the student's code can read the test, and it is the student's code that decides whether a test is looked
at again. So no test with hidden lines is run there, nor one that needs another's; a person is told of what only the
kernel would show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from autograder.boundary.locked import CHANGES, names_in
from autograder.execution import Checks, Execution
from autograder.execution.results import Report
from autograder.grading.heard import MET
from autograder.grading.redefined import say_redefined
from autograder.grading.scoring import put_points
from autograder.model import CellScore
from autograder.notebook import grade_id_of

__all__ = ["About", "second_look"]

_WALL = ("WireError", "cannot go to the test", "read-only", "did not match", "same dtype", "attribute 'dtype'")
"""In what a test says that has met a bound of the wire, an array that is not its own, or tensors of two types: the
default type that the student's code has set holds in its own process."""
_OF_ANSWERS = {"AssertionError", "NameError", "NotImplementedError"}
"""Errors of wrong and of missing answers."""
_OF_ABOVE = "what a test above had handed over was changed"
_REFUSED = "the test asked what cannot be asked apart from the student's code"


class Again(Protocol):
    """Runs the notebook with other checks."""

    def __call__(self, checks: Checks) -> tuple[Execution, Sequence[CellScore]]: ...


@dataclass(frozen=True)
class About:
    """What a second look has to know of the tests of a notebook.

    Attributes:
        hiding: those with hidden lines, or that need what hidden lines of another bind.
        lowered: those in which the instructor's own notebook loses points then: no loss counts.
        redefined: what each uses of locked cells to which the submission gives another meaning.
        believed: what each of them asks objects of the classes of the instructor's own, and MET if it meets one; None
            where nobody has tried.
    """

    hiding: frozenset[str] = frozenset()
    lowered: frozenset[str] = frozenset()
    believed: Mapping[str, frozenset[str]] | None = None
    redefined: Mapping[str, frozenset[str]] = field(default_factory=dict)


def second_look(
    execution: Execution, scores: Sequence[CellScore], checks: Checks, again: Again, about: About
) -> tuple[list[CellScore], list[str]]:
    """Return the scores that count, and what a person has to know who grades: nothing of it is for students."""
    reports = execution.reports
    apart = [score for score in scores if score.grade_id in execution.isolated & reports.keys()]
    unsure = {name for name, report in _losing(apart, reports) if _by_the_wall(report) or name in about.redefined}
    earning = {score.grade_id: reports[score.grade_id] for score in apart if score.points}
    earning = {name: report for name, report in earning.items() if name not in about.lowered}
    refused = {name: _REFUSED for name, report in earning.items() if report.refused and name not in about.hiding}
    changed = {name: why for name, report in earning.items() if (why := _why(report))}
    lost = {name for name, report in _losing(apart, reports) if _why(report)} & about.hiding
    counted, said = list(scores), []
    if within := (unsure - about.hiding) | refused.keys():
        other, found = again(replace(checks, isolated=checks.isolated - within, guarded=checks.guarded | within))
        counted = _lowered(counted, found, {} if other.late else refused, execution)
        said += [_stopped_look(name, why) for name, why in refused.items() if other.late]
        accused = {name for name in within if any(name in message for message in other.forged)}
        said += [_accused(score) for score in scores if score.grade_id in accused and score.lost]
        there = _of(found, within - accused)
        said += [_more(score, there[score.grade_id]) for score in scores if _less(score, there)]
    if changed or lost:
        other, found = again(replace(checks, mirrors=frozenset({*changed, *lost})))
        there = _of(found, lost)
        said += [_more(score, there[score.grade_id]) for score in scores if _less(score, there)]
        below = dict.fromkeys(_below(changed, earning, execution), _OF_ABOVE)
        counted = _lowered(counted, found, {} if other.late else changed | below, execution)
        said += [_stopped_look(name, why) for name, why in changed.items() if other.late]
    hiding = [score for score in apart if score.grade_id in about.hiding]
    said += [_unseen(score, reports[score.grade_id], about) for score in hiding]
    pairs = list(zip(scores, counted, strict=True))
    said += [_believed(new, reports[new.grade_id], about) for old, new in pairs if old in apart]
    return counted, [*_told(pairs), *filter(None, said)]


def _below(changed: Collection[str], earning: Mapping[str, Report], execution: Execution) -> list[str]:
    """Return the tests below these that look up what they have bound, and so on: they meet what was changed."""
    bound, below = set[str](), list[str]()
    for name, source in ((grade_id_of(cell) or "", cell.source) for cell in execution.notebook.cells):
        if name in earning and name not in changed and names_in(source)[0] & bound:
            below.append(name)
        if name in changed or name in below:
            bound |= earning[name].kept
    return below


def _losing(scores: Sequence[CellScore], reports: Mapping[str, Report]) -> list[tuple[str, Report]]:
    return [(score.grade_id, reports[score.grade_id]) for score in scores if score.lost]


def _stopped_look(name: str, why: str) -> str:
    return f"{name!r}: {why}: it was stopped where it was run once more, which says nothing: look at it"


def _accused(score: CellScore) -> str:
    return (
        f"{score.grade_id!r}: {score.points:g} of {score.max_points:g} apart from the student's code; run once more in "
        "the kernel, a check that must fail did not: another right answer, or an attack? look at it"
    )


def _of(scores: Sequence[CellScore], some: Collection[str]) -> dict[str, CellScore]:
    return {score.grade_id: score for score in scores if score.grade_id in some and score.points is not None}


def _lowered(
    scores: Sequence[CellScore],
    found: Sequence[CellScore],
    why_of: Mapping[str, str],
    execution: Execution,
) -> list[CellScore]:
    """Return the scores that count where these tests were run again, with the notebook's cells as they say."""
    there = _of(found, why_of)
    counted = []
    for score in scores:
        other = there.get(score.grade_id)
        if other is not None and _less(other, {score.grade_id: score}):
            why = f"{why_of[score.grade_id]}: graded as in one process"
            for cell in (c for c in execution.notebook.cells if grade_id_of(c) == score.grade_id):
                put_points(cell, other.points or 0.0, why)
            counted.append(replace(other, message=why, cases=()))
        else:
            counted.append(score)
    return counted


def _unseen(score: CellScore, report: Report, about: About) -> str:
    """Return what a person should look at, since lines of the test are hidden; nothing if there is nothing."""
    if score.points and report.refused:
        return f"{score.grade_id!r}: {_REFUSED}: in one process it might give less: look at it"
    if score.lost and (names := about.redefined.get(score.grade_id)):
        return say_redefined(score, names)
    instead_of_values = about.believed is not None and MET not in about.believed.get(score.grade_id, (MET,))
    unlike = report.valued or report.refused or (report.met and (instead_of_values or _stopped(report)))
    if score.lost and (unlike or _at_the_wall(report)):
        return (
            f"{score.grade_id!r}: {score.points:g} of {score.max_points:g} apart from the student's code, an object of "
            f"another class than yours? in one process it might give more: look at it"
        )
    return ""


def _believed(score: CellScore, report: Report, about: About) -> str:
    """Return what the test has asked objects of the student's and not of the instructor's: they say what they like."""
    known = (about.believed or {}).get(score.grade_id, report.believed)
    if not (score.points and (unlike := report.believed - known)):
        return ""
    changed = sorted(asked.removeprefix(CHANGES) for asked in unlike if asked.startswith(CHANGES))
    asked = sorted(asked for asked in unlike if not asked.startswith(CHANGES))
    of_class = f"what {', '.join(asked)} of an object of the student's class says, where yours is a value"
    of_data = f"{', '.join(changed)} is changed by the student's code, and not by yours"
    why = "; and ".join([of_class] * bool(asked) + [of_data] * bool(changed))
    return f"{score.grade_id!r}: {score.points:g} of {score.max_points:g}, and {why}: look at it"


def _less(score: CellScore, there: Mapping[str, CellScore]) -> bool:
    """Whether a score is less than the one of the same test there."""
    other = there.get(score.grade_id)
    return other is not None and score.points is not None and (other.points or 0.0) > score.points


def _more(score: CellScore, there: CellScore) -> str:
    return (
        f"{score.grade_id!r}: {score.points:g} of {score.max_points:g} apart from the student's code, "
        f"{there.points:g} as in one process: an object of another class than yours? look at it"
    )


def _told(pairs: Sequence[tuple[CellScore, CellScore]]) -> list[str]:
    """Return a line for each score that was lowered. pairs: as it was, and as it counts."""
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
    return "the test wrote to what it had handed over, or had been given" if report.written else ""


def _by_the_wall(report: Report) -> bool:
    """Whether the test may have seen something else in one process: another object, its own list, a writable array."""
    return report.met or report.altered or report.rewritten or report.written or _at_the_wall(report)


def _stopped(report: Report) -> bool:
    """Whether an error ended the test, and no assertion: what it met may not have been able to do what it asked."""
    return report.failure is not None and report.failure.name not in _OF_ANSWERS


def _at_the_wall(report: Report) -> bool:
    """Whether the test says that it has met a bound of the wire, or an array that is not its own."""
    failure = report.failure
    texts = [f"{failure.name}: {failure.value}"] if failure else []
    texts += [f"{case['error']}: {case['message']}" for case in report.cases or () if not case["passed"]]
    return any(words in text for words in _WALL for text in texts)
