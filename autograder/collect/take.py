"""Collects one lab: reads the archive, finds each file's student, chooses, and puts it in its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.collect.archive import Archive, Member, open_archive
from autograder.collect.layout import Owner, Piece, check_system, in_a_submission, pieces
from autograder.collect.metadata import read_metadata
from autograder.collect.place import place
from autograder.collect.plan import Handover, plan, students_of
from autograder.course import Course
from autograder.errors import SubmissionError
from autograder.lms import read_roster
from autograder.submission import MAX_BYTES

__all__ = ["Row", "collect_lab"]

_MAX_METADATA = 64 * 1024 * 1024


@dataclass(frozen=True)
class Row:
    """What happened to one file, or to one submission."""

    student: str
    file: str
    what: str
    lost: bool = False
    """Whether a submission could not be put anywhere."""


def collect_lab(
    course: Course, lab: str, source: Path, *, system: str = "auto", roster: Path | None = None, force: bool = False,
    dry_run: bool = False,
) -> Iterator[Row]:  # fmt: skip
    """Yield what happened to each submission in a zip file or folder, and to each file that was not taken."""
    names = list(course.notebooks(lab))
    people = read_roster(roster, course.students())
    with open_archive(source) as archive:
        system = check_system(system, archive.members)
        found, nobodys = _sorted_out(archive, system, lab)
        yield from (Row("", path, f"left out: {why}", lost=_counts(path)) for path, why in archive.left_out)
        yield from (Row("", m.path, "left out: whose it is cannot be told", lost=_counts(m.name)) for m in nobodys)
        by_student: defaultdict[str, list[Piece]] = defaultdict(list)
        owners = _by_owner(found)
        for owner, (student, note) in students_of(list(owners), people).items():
            own = owners[owner]
            if not student:
                file = next((p.path for p in own if _counts(p.path)), own[0].path)
                yield Row("", f"{owner}: {file}", f"left out: {note}", lost=any(_counts(p.path) for p in own))
            else:
                by_student[student] += own
                if note:
                    yield Row(student, "", note)
        for student, own in sorted(by_student.items()):
            made = plan(own, student, names, keep_timestamp=system == "folders", room=course.max_files_bytes)
            yield from _hand_over(course, lab, archive, made, force=force, dry_run=dry_run)


def _sorted_out(archive: Archive, system: str, lab: str) -> tuple[list[Piece], list[Member]]:
    metadata: dict[str, list[tuple[Owner, str]]] = {}
    for member in archive.members:
        if system == "gradescope" and member.name == "submission_metadata.yml" and not in_a_submission(member):
            metadata = read_metadata(archive.read(member, _MAX_METADATA))
    return pieces(system, archive.members, lab, metadata)


def _by_owner(found: Sequence[Piece]) -> dict[Owner, list[Piece]]:
    owners: defaultdict[Owner, list[Piece]] = defaultdict(list)
    for piece in found:
        owners[piece.owner].append(piece)
    return owners


def _hand_over(
    course: Course, lab: str, archive: Archive, made: Handover, *, force: bool, dry_run: bool
) -> Iterator[Row]:
    content: dict[str, bytes] = {}
    when = 0.0
    wanted = {f"{name}.ipynb": piece for name, piece in made.notebooks.items()}
    for name, piece in {**wanted, **made.files}.items():
        try:
            content[name] = archive.read(piece.member, MAX_BYTES if name in wanted else course.max_files_bytes)
            when = max(when, _time(made.time) or piece.member.when) if name in wanted else when
        except SubmissionError as error:
            yield Row(made.student, piece.path, f"left out: {error}", lost=name in wanted)
    if not wanted.keys() & content.keys():
        if not wanted:
            yield Row(made.student, ", ".join(n for n, _ in made.left_out), "left out: no notebook in it", lost=True)
        return
    if made.time:
        content["timestamp.txt"] = f"{made.time}\n".encode()
    said = place(course, lab, made.student, content, when, force=force, dry_run=dry_run)
    yield Row(made.student, ", ".join(wanted.keys() & content.keys()), "; ".join([said, *made.notes]))
    yield from (Row(made.student, name, f"left out: {why}") for name, why in made.left_out)


def _time(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC).timestamp() if text else 0.0


def _counts(name: str) -> bool:
    """Whether a submission is lost with this file."""
    return name.lower().endswith(".ipynb")
