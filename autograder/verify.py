"""Checks the records: the log's chain of hashes, and the gradebook against what the log says was graded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import Course, StoredCell
from autograder.model import Result, Status
from autograder.store import Entry, Log, hashes

__all__ = ["Difference", "Verification", "check_chain", "verify_lab"]

_NOTHING_STORED = {Status.MISSING, Status.FAILED}
_NOTHING = "nothing"


@dataclass(frozen=True)
class Difference:
    """One thing on which the log and the gradebook do not agree."""

    student: str
    what: str
    """A grade_id, or what else of the submission it is about."""
    log: str
    gradebook: str
    """Or the file, if it is about a file."""

    def __str__(self) -> str:
        return f"{self.student}: {self.what}: the log says {self.log}, but there is {self.gradebook}"


@dataclass
class Verification:
    """What was found out about the records of one lab."""

    lab: str
    lines: int = 0
    head: str = ""
    problems: list[str] = field(default_factory=list)
    """Where the log is not as it was written."""
    differences: list[Difference] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    """What persons added in formgrader, which is as it should be."""
    notes: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return not self.problems and not self.differences


def verify_lab(course: Course, lab: str, head: str = "") -> Verification:
    """Check one lab; `head` is the hash that grading printed at its end, or the beginning of it."""
    log = Log(course.state / f"{lab}.jsonl")
    entries = log.entries()
    found = Verification(lab, lines=len(entries), head=log.head)
    found.problems, found.notes = check_chain(entries, head)
    graded = _graded(entries)
    cells, commented = course.cells(lab), course.commented(lab)
    penalties = {stored.student: stored.penalty for stored in course.scores(lab)}
    for student in sorted(graded.keys() | cells.keys()):
        if student not in graded:
            found.differences.append(Difference(student, "the submission", _NOTHING, "one in the gradebook"))
        elif student not in cells:
            found.differences.append(Difference(student, "the submission", "it was graded", _NOTHING))
        else:
            found.differences += _compare(course, graded[student], cells[student], penalties[student])
            found.by_hand += [f"{student}: {what}" for cell in cells[student] for what in _by_hand(cell)]
            found.by_hand += [f"{student}: {name}: a comment by hand" for name in commented.get(student, [])]
    for folder in sorted((course.state / f"{lab}.staging").glob("*")):
        found.differences.append(
            Difference(folder.name, "the last grading", _NOTHING, "a part of it: the run was killed")
        )
    return found


# ----------------------------------------------------------------------------------------------------------- the chain
def check_chain(entries: Sequence[Entry], head: str = "") -> tuple[list[str], list[str]]:
    """Return where lines were edited, removed, moved, inserted or cut off, and what else is worth knowing.

    Lines cut off at the end, and a log written anew as a whole, are found with a `head` only that was noted before.
    """
    problems: list[str] = []
    notes: list[str] = []
    lines = {entry.hash: entry.number for entry in entries if entry.hash}
    last: Entry | None = None
    for entry in entries:
        where = f"line {entry.number}"
        if entry.hash:
            if not entry.intact:
                problems.append(f"{where}{_whose(entry)}: was edited: it is not what its hash says")
            if problem := _broken_link(entry, last, lines):
                problems.append(f"{where}{_whose(entry)}: {problem}")
            last = entry
        elif entry.result is not None and last is not None:
            problems.append(f"{where}{_whose(entry)}: was inserted: it has no hash, and those before it have")
        elif entry.result is None:
            notes.append(f"{where}: cannot be read and counts as not there: a run that was killed leaves such a line")
    old = sum(not entry.hash and entry.result is not None for entry in entries)
    if old and last is None:
        notes.append(f"{old} lines of an older version without hashes: they cannot be checked")
    if head and not any(own.startswith(head) for own in lines):
        problems.append(f"no line has the hash {head}: since it was noted, lines were cut off, or all written anew")
    return problems, notes


def _whose(entry: Entry) -> str:
    return f" ({entry.result.student})" if entry.result else ""


def _broken_link(entry: Entry, last: Entry | None, lines: Mapping[str, int]) -> str:
    """Say what is wrong between this line and the one before it."""
    if last is None:
        if entry.previous == entry.expected:
            return ""
        return "what stood above it is not there, or was changed"
    if entry.previous == last.hash:
        return ""
    if entry.previous in lines:
        return f"it was written after line {lines[entry.previous]}: lines were moved or inserted"
    return "the line that it was written after is not there: lines were removed"


# -------------------------------------------------------------------------------------------------------- the gradebook
def _graded(entries: Sequence[Entry]) -> dict[str, Result]:
    """Return each student's last result that went into the gradebook."""
    whole = [entry.result for entry in entries if entry.result is not None and entry.intact]
    return {result.student: result for result in whole if result.status not in _NOTHING_STORED}


def _compare(course: Course, result: Result, cells: Sequence[StoredCell], penalty: float) -> Iterator[Difference]:
    stored = {cell.key: cell for cell in cells}
    graded = {f"{cell.notebook}/{cell.grade_id}": cell for cell in result.cells}
    several = len({cell.notebook for cell in result.cells}) > 1
    for key in [*graded, *(key for key in stored if key not in graded)]:
        name = key if several else key.split("/", 1)[1]
        if key not in stored:
            yield Difference(result.student, name, _points(graded[key].points), _NOTHING)
        elif key not in graded:
            yield Difference(result.student, name, _NOTHING, _points(stored[key].auto_score))
        else:
            if not _equal(graded[key].points, stored[key].auto_score):
                points = _points(graded[key].points), _points(stored[key].auto_score)
                yield Difference(result.student, name, *points)
            if not _equal(graded[key].max_points, stored[key].max_score):
                most = f"{graded[key].max_points:g} at most", f"{stored[key].max_score:g} at most"
                yield Difference(result.student, name, *most)
    if result.penalty is not None and not _equal(result.penalty, penalty):
        yield Difference(result.student, "penalty for being late", f"{result.penalty:g}", f"{penalty:g}")
    yield from _changed_notebooks(result, course.autograded(result.student, result.lab))


def _changed_notebooks(result: Result, folder: Path) -> Iterator[Difference]:
    now = hashes(folder, result.notebooks)
    for name, before in result.notebooks.items():
        if now.get(name) != before:
            yield Difference(
                result.student, f"autograded/{name}.ipynb", f"hash {before[:12]}", now.get(name, _NOTHING)[:12]
            )


def _by_hand(cell: StoredCell) -> Iterator[str]:
    if cell.manual_score is not None:
        yield f"{cell.grade_id}: {cell.manual_score:g} points by hand, {_points(cell.auto_score)} by the grader"
    if cell.extra_credit:
        yield f"{cell.grade_id}: {cell.extra_credit:g} points of extra credit by hand"


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, abs_tol=1e-9)


def _points(points: float | None) -> str:
    return "no points yet" if points is None else f"{points:g}"
