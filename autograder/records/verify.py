"""Checks the records: the log itself, and the gradebook against what the log says was graded."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.course import Course, Lateness, StoredCell
from autograder.errors import CourseError, counted, in_one_line
from autograder.model import CellSpec, GradebookEntry, Result
from autograder.records.chain import check_chain
from autograder.records.fingerprint import hashes, row_hashes
from autograder.records.log import Basis, Entry, Log

__all__ = ["Difference", "Verification", "basis", "verify_lab"]

_NOTHING = "nothing"
_DUE, _EXTENSION, _PENALTY = "due", "extension", "penalty for being late"
_NAMED = 3
"""How many students a line names that is about many."""


def basis(course: Course, lab: str, student: str, rows: Mapping[str, Sequence[CellSpec]], content: str) -> Basis:
    """Return what the log keeps of a submission that has just been stored: its tests, and what decides its lateness.

    content: a hash of what was handed in.
    """
    late = course.lateness(lab, student).get(student, Lateness())
    return Basis(row_hashes(rows), late.handed_in, late.due, late.extension_s, content)


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
    """Where the log is not as it was written, or the gradebook not as nbgrader makes it."""
    differences: list[Difference] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    """What persons added in formgrader, which is as it should be."""
    notes: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    """Whose submission is gone from the gradebook together with the student."""
    waiting: list[str] = field(default_factory=list)
    """Who has handed in, where the log has no line and the gradebook no grade: nothing was graded."""
    begun: bool = True
    """Whether there is such a line or grade."""

    @property
    def agrees(self) -> bool:
        return self.begun and not self.problems and not self.differences

    @property
    def only_late(self) -> bool:
        """Whether nothing is wrong but penalties, which `grade` applies again without a run."""
        return (
            self.begun
            and not self.problems
            and all(found.what in {_DUE, _EXTENSION, _PENALTY} for found in self.differences)
        )


def verify_lab(course: Course, lab: str, head: str = "") -> Verification:
    """Check one lab; `head` is the hash that grading printed at its end, or the beginning of it."""
    log = Log(course.state / f"{lab}.jsonl")
    entries = log.entries()
    found = Verification(lab, lines=len(entries), head=log.head)
    found.problems, found.notes = check_chain(entries, head)
    found.problems += [f"the gradebook {what}" for what in course.alterations()]
    graded = log.graded()
    cells, commented, late = course.cells(lab), course.commented(lab), course.lateness(lab)
    found.begun = bool(entries or cells)
    found.waiting = [] if found.begun else course.submitters(lab)
    found.problems += _other_sums(course.scores(lab), cells)
    roster = set(course.everybody())
    for student in sorted(graded.keys() | cells.keys()):
        if student not in graded:
            found.differences.append(Difference(student, "the submission", _NOTHING, "one in the gradebook"))
        elif student not in cells:
            _gone(found, _result(graded[student]), roster, course.excluded)
        else:
            result = _result(graded[student])
            found.differences += _compare(course, result, cells[student], late[student].penalty)
            found.by_hand += [f"{student}: {what}" for cell in cells[student] for what in _by_hand(cell)]
            found.by_hand += [f"{student}: {name}: a comment by hand" for name in commented.get(student, [])]
        if student in cells and student not in roster:
            found.differences.append(Difference(student, "the student", "there was one", "nobody of this id any more"))
    found.differences += _other_cells(course, lab, {s: e for s, e in graded.items() if s in cells}, cells)
    times = list(_other_times(graded, late))
    found.differences += _together(times)
    try:
        same = sorted((graded.keys() & late.keys()) - {difference.student for difference in times})
        found.differences += _other_penalties({s: late[s].penalty for s in same}, graded, course.penalties(lab))
    except CourseError as error:
        found.notes.append(in_one_line(error))
    found.notes += _of_older_versions(graded)
    for folder in sorted((course.state / f"{lab}.staging").glob("*")):
        found.differences.append(
            Difference(folder.name, "the last grading", _NOTHING, "a part of it: the run was killed")
        )
    return found


# -------------------------------------------------------------------------------------------------------- the gradebook
def _gone(found: Verification, result: Result, roster: Collection[str], excluded: Collection[str]) -> None:
    """Note that a submission is gone: as it should be only if the student is, and if the configuration says so, too."""
    student = result.student
    if student not in roster and student in excluded:
        score = f"{result.score:g} of {result.max_score:g}"
        found.notes.append(f"{student}: {score} in the log, and removed from the gradebook: in student_id_exclude")
        return
    found.differences.append(Difference(student, "the submission", "it was graded", _NOTHING))
    found.removed += [student] if student not in roster else []


def _of_older_versions(graded: Mapping[str, Entry]) -> Iterator[str]:
    if old := sum(entry.basis is None for entry in graded.values()):
        one = "1 result of an older version does not say with which tests it was graded, nor what was due when"
        many = f"{old} results of an older version do not say with which tests they were graded, nor what was due when"
        yield f"{one if old == 1 else many}; grade --force writes {'it' if old == 1 else 'them'} again"


def _result(entry: Entry) -> Result:
    assert entry.result is not None
    return entry.result


def _other_sums(entries: Sequence[GradebookEntry], cells: Mapping[str, Sequence[StoredCell]]) -> Iterator[str]:
    """Yield where the database's own sum, which exports and feedback show, is not that of its rows."""
    for entry in entries:
        if not _equal(entry.raw_score, rows := math.fsum(map(_counted, cells.get(entry.student, ())))):
            yield f"the gradebook gives {entry.student} {entry.raw_score:g} in all, but its rows add up to {rows:g}"


def _counted(cell: StoredCell) -> float:
    given = cell.auto_score if cell.manual_score is None else cell.manual_score
    return 0.0 if given is None else given + (cell.extra_credit or 0.0)


def _other_cells(
    course: Course, lab: str, graded: Mapping[str, Entry], cells: Mapping[str, Sequence[StoredCell]]
) -> Iterator[Difference]:
    """Yield how the lab's cells differ from those that these submissions, all in the gradebook, were graded with."""
    if not graded:  # a lab that is gone with all its submissions: that is said of each
        return
    try:
        rows = course.notebooks(lab)
    except CourseError as error:
        yield Difference(_listed(sorted(graded)), "the lab", "they were graded", in_one_line(error))
        return
    yield from _other_tests(graded, rows)
    yield from _together(_other_kinds(graded, rows, cells))


def _other_kinds(
    graded: Mapping[str, Entry], rows: Mapping[str, Sequence[CellSpec]], cells: Mapping[str, Sequence[StoredCell]]
) -> Iterator[Difference]:
    """Yield the grades that nbgrader counts as another kind of cell, or no more, or now, asks a person to give."""
    kinds = {f"{name}/{row.grade_id}": row.cell_type for name, own in rows.items() for row in own}
    for student, entry in graded.items():
        by_hand = {f"{cell.notebook}/{cell.grade_id}": cell.points is None for cell in _result(entry).cells}
        for cell in cells[student]:
            name = cell.key if len(rows) > 1 else cell.grade_id
            if cell.cell_type and kinds.get(cell.key, cell.cell_type) != cell.cell_type:
                yield Difference(student, name, f"a {kinds[cell.key]} cell", f"a {cell.cell_type} cell")
            expected = by_hand.get(cell.key, cell.to_grade)
            if cell.to_grade is not None and cell.manual_score is None and expected != cell.to_grade:
                yield Difference(student, name, _ASKED[expected], _ASKED[cell.to_grade])


_ASKED = {True: "a grade for a person to give", False: "a grade that no person has to give", None: ""}


def _other_tests(graded: Mapping[str, Entry], rows: Mapping[str, Sequence[CellSpec]]) -> Iterator[Difference]:
    """Yield the cells that were others when something was graded: the points are not those of today's tests."""
    today = row_hashes(rows)
    whose: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for student, entry in graded.items():
        then = entry.basis.tests if entry.basis is not None else {}
        for key in sorted(then.keys() | today.keys()) if then else ():
            if then.get(key) != today.get(key):
                whose[key, then.get(key, "")].append(student)
    for (key, before), students in sorted(whose.items()):
        name = key if len(rows) > 1 else key.split("/", 1)[1]
        said = f"it was graded with the cell {before[:12]}" if before else "there was no such cell"
        now = f"another one today, {today[key][:12]}" if key in today else "no such cell today"
        yield Difference(_listed(students), name, said, now)


def _other_times(graded: Mapping[str, Entry], late: Mapping[str, Lateness]) -> Iterator[Difference]:
    """Yield what decides a penalty and is not what it was when the penalty was computed."""
    for student in sorted(graded.keys() & late.keys()):
        then, now = graded[student].basis, late[student]
        if then is None:
            continue
        if then.handed_in != now.handed_in:
            yield Difference(student, "handed in", then.handed_in or "at no known time", now.handed_in or _NOTHING)
        if then.due != now.due:
            yield Difference(student, _DUE, then.due or "at no known time", now.due or "no due date")
        if not math.isclose(then.extension_s, now.extension_s, abs_tol=1e-3):
            hours = f"{then.extension_s / 3600:g} hours", f"{now.extension_s / 3600:g} hours"
            yield Difference(student, _EXTENSION, *hours)


def _other_penalties(
    stored: Mapping[str, float], graded: Mapping[str, Entry], today: Mapping[str, Mapping[str, float]]
) -> Iterator[Difference]:
    """Yield the penalties that are as the log says, but not as today's points, some by hand, and policy make them."""
    for student, penalty in stored.items():
        now = math.fsum(today[student].values()) if student in today else penalty
        if _equal(_result(graded[student]).penalty, penalty) and not _equal(penalty, now):
            yield Difference(student, _PENALTY, f"{penalty:g}", f"{now:g} to be taken off by today's points and policy")


def _together(differences: Iterable[Difference]) -> Iterator[Difference]:
    """Make one line of those that differ in the student only: a due date is changed for all at once."""
    alike: defaultdict[Difference, list[str]] = defaultdict(list)
    for difference in differences:
        alike[replace(difference, student="")].append(difference.student)
    return (replace(difference, student=_listed(students)) for difference, students in alike.items())


def _listed(students: Sequence[str]) -> str:
    more = f" and {len(students) - _NAMED} others" if len(students) > _NAMED + 1 else ""
    return ", ".join(sorted(students)[: _NAMED if more else None]) + more


def _compare(course: Course, result: Result, cells: Sequence[StoredCell], penalty: float) -> Iterator[Difference]:
    stored = {cell.key: cell for cell in cells}
    for key, count in Counter(cell.key for cell in cells).items():
        if count > 1:
            yield Difference(result.student, key, "one grade", f"{count} grades, which all count")
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
        yield Difference(result.student, _PENALTY, f"{result.penalty:g}", f"{penalty:g}")
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
        given = counted(cell.manual_score, "point")
        test = f", {_points(cell.auto_score)} by the grader" if cell.auto_score is not None else ""
        yield f"{cell.grade_id}: {given} by hand{test}"
    if cell.extra_credit:
        yield f"{cell.grade_id}: {counted(cell.extra_credit, 'point')} of extra credit by hand"


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, abs_tol=1e-9)


def _points(points: float | None) -> str:
    return "no points yet" if points is None else f"{points:g}"
