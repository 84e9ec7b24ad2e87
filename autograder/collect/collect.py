"""Collects one lab: reads the archive, finds each file's student, chooses, and puts it in its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from autograder.collect.archive import UNREAD, Archive, Member, open_archive
from autograder.collect.asked import check_asked, check_source
from autograder.collect.before import Before
from autograder.collect.extended import Elsewhere
from autograder.collect.fallback import Planner
from autograder.collect.gradescope_metadata import read_metadata
from autograder.collect.install import Submission, place
from autograder.collect.lms_names import Owner, Piece, check_system, in_a_submission, pieces
from autograder.collect.missing import Missing
from autograder.collect.names import TIMESTAMP
from autograder.collect.numbered import Numbered
from autograder.collect.other_lab import refuse_another_labs
from autograder.collect.packed import Unpacked, unpacked
from autograder.collect.plan import IN_ARCHIVE, Handover, plan, students_of
from autograder.collect.rows import IN_NO_FOLDER, LEFT_OUT, Row, some, summed_up
from autograder.collect.times import LateBy, said_of
from autograder.collect.twice import Twice
from autograder.collect.unusable import Usable
from autograder.course import Course
from autograder.errors import AutograderError, CourseError, SubmissionError, in_one_line
from autograder.lms import Roster, read_roster
from autograder.submission.repair import MAX_BYTES

__all__ = ["collect_lab"]

_EXCLUDED = f"{LEFT_OUT}: student_id_exclude in nbgrader_config.py names this student"

_MAX_METADATA = 64 * 1024 * 1024


def collect_lab(
    course: Course, lab: str, source: Path, *, system: str = "auto", roster: Path | None = None,
    late: timedelta | None = None, force: bool = False, dry_run: bool = False, students: Collection[str] = (),
    around: Callable[[str], object] = lambda _folder: None,
) -> Iterator[Row]:  # fmt: skip
    """Yield what happened to each submission in a zip file or folder, and to each file that was not taken.

    students: only theirs; CourseError, and nothing is written, if one of them has nothing there.
    around: is told the folder that stands around all submissions; a path in a row begins below it.
    late: by how much those count as late that the system marks so, without saying when they came.
    """
    check_source(course, source)
    names = list(course.notebooks(lab))
    usable, late_by, before = Usable.in_lab(course, lab), LateBy.of(course, lab, late), Before.of(course, lab)
    people = read_roster(roster, course.students(everybody=True), before.students, tells_new=before.others)
    elsewhere = Elsewhere.of(course, lab, people)
    with open_archive(source) as archive:
        system = check_system(system, archive.members, lab, people.knows)
        found, nobodys, folder = _sorted_out(archive, system, lab, people)
        around(folder)
        by_student: defaultdict[str, list[Piece]] = defaultdict(list)
        rest = list(summed_up(_without_place(archive, found, nobodys, people, by_student, system)))
        rest = [row for row in rest if not row.student or row.student not in course.excluded]
        rest += _taken_out(by_student, course.excluded)
        check_asked(source, students, by_student, rest, course.excluded)
        wanted = sorted(student for student in by_student if not students or student in students)
        how: dict[str, Any] = {"names": names, "keep_timestamp": system == "folders", "room": course.max_files_bytes}
        planned = Planner(archive, partial(plan, **how), usable)
        given = partial(_given, archive, by_student, planned)
        twice = Twice.found(course, lab, wanted, given, everybody=by_student, roster=roster is not None)
        if not force:
            refuse_another_labs(source, lab, wanted, given, usable)
            twice.check(source)
            before.refuse_second_ids(source, wanted, by_student, people)
        yield from (row for row in rest if not students or row.student in students)
        how = {"elsewhere": elsewhere, "force": force, "dry_run": dry_run}
        how["canvas"] = Numbered.of(course, lab) if system == "canvas" else None

        def hand_over(made: Handover) -> Iterator[Row]:
            return _hand_over(course, lab, archive, made, usable, late_by, **how)

        each = (_of_student(archive, student, by_student[student], planned, hand_over) for student in wanted)
        rows = (row for own in each for row in twice.noted(summed_up(own)))
        yield from rows if dry_run else before.noting(rows, by_student, people)


def _given(archive: Archive, by_student: Mapping[str, list[Piece]], planned: Planner, student: str) -> dict[str, bytes]:
    """Return the notebooks of one student; none if what they handed in cannot be read, which is said later."""
    with ExitStack() as stack, suppress(Exception):
        inner = unpacked(archive, by_student[student], stack)
        return _read_notebooks(archive, planned(inner.pieces, student))[0] if inner.pieces else {}
    return {}


def _of_student(
    archive: Archive,
    student: str,
    own: list[Piece],
    planned: Planner,
    hand_over: Callable[[Handover], Iterator[Row]],
) -> list[Row]:
    """Return what happened to one student's files; no error of theirs is anybody else's."""
    rows: list[Row] = []
    with ExitStack() as stack:
        try:
            inner = unpacked(archive, own, stack)
            if inner.pieces:
                made = planned(inner.pieces, student)
                made.left_out += inner.left_out
                rows += hand_over(made)
            rows += _damaged(student, inner, lost=any(row.lost for row in rows))
        except AutograderError:
            raise
        except Exception as error:  # what they handed in was made so that we fail
            what = f"{LEFT_OUT}: {type(error).__name__}: {in_one_line(error)}"
            rows.append(Row(student, own[0].path, what, lost=True))
    return rows


def _taken_out(by_student: dict[str, list[Piece]], excluded: Collection[str]) -> Iterator[Row]:
    """Take those students out whom the configuration leaves out; yield a row for each."""
    for student in sorted(by_student.keys() & excluded):
        yield Row(student, by_student.pop(student)[0].path, _EXCLUDED)


def _damaged(student: str, inner: Unpacked, *, lost: bool) -> Iterator[Row]:
    """Yield the zip files that cannot be opened; with them one submission is lost, however many they are."""
    for number, (file, why) in enumerate(inner.damaged):
        yield Row(student, file, f"{LEFT_OUT}: {why}", lost=not lost and not number)


def _without_place(
    archive: Archive,
    found: Sequence[Piece],
    nobodys: Sequence[Member],
    people: Roster,
    by_student: defaultdict[str, list[Piece]],
    system: str,
) -> Iterator[Row]:
    """Sort the files by student; yield those that are nobody's.

    Whomever a system numbers or names has handed something in, whatever it is; a folder need not be anybody's.
    """
    for path, why in archive.left_out:
        yield Row("", path, f"left out: {why}", lost=_counts(path) or why.startswith(UNREAD))
    why = IN_NO_FOLDER if system == "folders" else "cannot tell which student this is"
    yield from (Row("", m.path, f"{LEFT_OUT}: {why}", lost=_counts(m.name)) for m in nobodys)
    owners = _by_owner(found)
    for owner, (student, note) in students_of(list(owners), people).items():
        own = owners[owner]
        if not student:
            file = next((p.path for p in own if _counts(p.path)), own[0].path)
            lost = bool(owner.number or owner.name) or any(_counts(p.path) for p in own)
            yield Row("", f"{owner}: {file}", f"left out: {note}", lost)
        else:
            by_student[student] += own
            if note:
                yield Row(student, "", note)


def _sorted_out(archive: Archive, system: str, lab: str, people: Roster) -> tuple[list[Piece], list[Member], str]:
    metadata: dict[str, list[tuple[Owner, str]]] | None = None
    for member in archive.members:
        if system == "gradescope" and member.name == "submission_metadata.yml" and not in_a_submission(member):
            metadata = read_metadata(archive.read(member, _MAX_METADATA))
    return pieces(system, archive.members, lab, metadata, people.knows)


def _by_owner(found: Sequence[Piece]) -> dict[Owner, list[Piece]]:
    owners: defaultdict[Owner, list[Piece]] = defaultdict(list)
    for piece in found:
        owners[piece.owner].append(piece)
    return owners


def _hand_over(
    course: Course, lab: str, archive: Archive, made: Handover, usable: Usable, late_by: LateBy, *,
    elsewhere: Elsewhere, canvas: Numbered | None, force: bool, dry_run: bool,
) -> Iterator[Row]:  # fmt: skip
    """Read what one student handed in and put it in its place; whatever goes wrong there is this student's alone.

    canvas: what takes back the numbers that Canvas gives to files, if it is Canvas, which also marks what is late.
    """
    needed, when, damaged = _read_notebooks(archive, made)
    yield from damaged
    if not needed:
        yield from () if made.notebooks else (_without_notebook(made),)
        return
    if canvas:
        canvas.undone(made, needed)
    beside, unread = _read_beside(course, archive, made)
    yield from (Row(made.student, name, f"left out: {why}") for name, why in unread)
    problems = {file: why for file, data in needed.items() if (why := usable.problem(file, data))}
    files, notes = ", ".join(sorted(needed)), list(made.notes)
    time = made.time or (late_by.time(made.student) if made.late else "")
    if time:
        needed[TIMESTAMP] = f"{time}\n".encode()
    elif TIMESTAMP in beside:
        needed[TIMESTAMP] = beside.pop(TIMESTAMP)
        notes.append(said_of(needed[TIMESTAMP], [piece.member.when for piece in made.notebooks.values()]))
    missing = Missing.of(course, lab, made.student, needed)
    times = {"reckoned": bool(time and not made.time), "in_time": canvas is not None and not made.late}
    own = Submission(made.student, needed, beside, when, problems, **times)
    try:
        placed = place(course, lab, own, usable.usable, force=force, dry_run=dry_run)
    except OSError as error:
        yield Row(made.student, files, f"left out: it cannot be written: {error.strerror}", lost=True, error=error)
        return
    except (CourseError, OverflowError) as error:
        yield Row(made.student, files, f"left out: {in_one_line(error)}", lost=True)
        return
    notes += filter(None, [elsewhere.said(made.student, made.time)])
    if made.late:
        keeps = placed.kind in {"kept", "unchanged"} and _has_time(course, lab, made.student)
        notes.append(late_by.said(made.student, keeps=keeps))
    troubles = [] if placed.kind == "kept" else [f"cannot be graded: {why}" for why in problems.values()]
    what = "; ".join([placed.said, *troubles, *missing.said(placed.kind), *notes])
    yield Row(made.student, files, what, bool(troubles), placed.kind, missing.at_the_end(placed.kind))
    yield from (Row(made.student, name, f"left out: {why}") for name, why in (*made.left_out, *placed.left_out.items()))


def _read_notebooks(archive: Archive, made: Handover) -> tuple[dict[str, bytes], float, list[Row]]:
    """Return the notebooks by file name, when they were handed in or else changed, and those that cannot be read."""
    needed, when, damaged = dict[str, bytes](), 0.0, list[Row]()
    for name, piece in made.notebooks.items():
        try:
            needed[f"{name}.ipynb"] = archive.read(piece.member, MAX_BYTES)
            when = max(when, _time(made.time) or piece.member.when)
        except SubmissionError as error:
            damaged.append(Row(made.student, piece.path, f"left out: {error}", lost=True))
    return needed, when, damaged


def _has_time(course: Course, lab: str, student: str) -> bool:
    return (course.submitted(student, lab) / TIMESTAMP).is_file()


def _without_notebook(made: Handover) -> Row:
    """Return the row of somebody who handed in something else."""
    others = [*made.left_out, *((name, "") for name in made.files)]
    packed = any(why == IN_ARCHIVE for _, why in made.left_out)
    notebooks = [name for name, _ in others if name.lower().endswith(".ipynb")]
    none = "no notebook that is one of this lab's" if notebooks else "no notebook in it"
    what = f"{none}; {IN_ARCHIVE}" if packed else none
    return Row(made.student, some(others), f"{LEFT_OUT}: {what}", lost=True)


def _read_beside(course: Course, archive: Archive, made: Handover) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """Return the files beside the notebooks, as many bytes as one student has room for, and those that cannot be read.

    What is read of one student is no other's: nothing is summed up over the class.
    """
    found: dict[str, bytes] = {}
    unread: list[tuple[str, str]] = []
    room = course.max_files_bytes
    for name, piece in made.files.items():
        try:
            found[name] = archive.read(piece.member, room)
        except SubmissionError as error:
            unread.append((piece.path, str(error)))
        else:
            room -= len(found[name])
    return found, unread


def _time(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC).timestamp() if text else 0.0


def _counts(name: str) -> bool:
    """Whether a submission is lost with this file."""
    return name.lower().endswith((".ipynb", ".zip"))
