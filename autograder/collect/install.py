"""Puts submissions where nbgrader looks for them; what was there before is kept aside and never lost."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.collect.names import TIMESTAMP
from autograder.course import Course, moment
from autograder.errors import CourseError, SubmissionError
from autograder.files import folder_for_replaced, move_whole, place_for_replaced, walk, write_whole

__all__ = ["IN_TIME_NOW", "KEPT", "LATE_NOW", "UNCHANGED", "Placed", "Submission", "place"]

KEPT = "kept: another one is there that is not older; --force replaces it"
UNCHANGED = "unchanged"
LATE_NOW = "as before, but late now"
IN_TIME_NOW = "as before, but not marked as late any more: it counts as in time"

_OF_NAMES = {
    errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOENT
}  # fmt: skip
"""What a file system says of a name that it does not take, or takes for another's."""


@dataclass(frozen=True)
class Submission:
    """What is to stand in one student's folder."""

    student: str
    needed: Mapping[str, bytes]
    """The notebooks, and the time if somebody knows it: without one of them the submission is not placed."""
    beside: Mapping[str, bytes]
    """The files beside them, whose names are the student's: one that cannot have its name here is left out."""
    when: float = 0.0
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why a notebook of it will not be graded, by its file name."""
    reckoned: bool = False
    """Whether nobody has said when it was handed in: its time follows from `--late` and the student's due date."""
    in_time: bool = False
    """Whether the system, which marks what is late, has not marked it."""

    @property
    def content(self) -> dict[str, bytes]:
        return {**self.beside, **self.needed}


@dataclass(frozen=True)
class Placed:
    """What became of one submission, or would become of it."""

    kind: str
    """One word or two, the same in a dry run: new, replaced, late now, in time now, unchanged, kept."""
    said: str
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Which files beside it could not be written, and why."""


_KEPT, _UNCHANGED = Placed("kept", KEPT), Placed("unchanged", UNCHANGED)
_NO_NEWER = "kept: this was replaced before, is in {}, and is no newer hand-in; --force --student {} takes it"
_RETIMED = {LATE_NOW: "late now", IN_TIME_NOW: "in time now"}


def place(
    course: Course, lab: str, own: Submission, usable: Callable[[Path], bool], *, force: bool, dry_run: bool
) -> Placed:
    """Write one submission whole or not at all; return what happened. A dry run says the same as "would be".

    An error is this student's alone: OSError, or CourseError if something else stands in the place, or if this one
    cannot be graded and the one that is there can (`usable` says so of a path).
    Another one that is there already is replaced only if this one is newer, or can be graded and that one cannot, or
    with `force`; the old one is then moved to .autograder/replaced/LAB/STUDENT/TIME. What lies there is no newer one,
    whatever time the files of an archive have: something else was chosen after it.
    """
    target = course.submitted(own.student, lab)
    _check(target)
    there = target.exists()
    times = _Reckoned(course.state / f"{lab}.reckoned.json")
    if there and (_same(target, own.content) or (not force and _same_but_for_its_time(target, own, times))):
        return _UNCHANGED
    retimed = _retimed(target, own, times) if there else ""
    if there and not force and not retimed and not _betters(course, lab, own, usable):
        if not _newer(own, target):
            return _KEPT
        if before := _replaced_before(course, lab, own):
            return Placed("kept", _NO_NEWER.format(before.relative_to(course.root), own.student))
    if there and not force:
        for name, problem in own.problems.items():
            if usable(target / name):
                raise CourseError(f"{problem}; the one from before is kept", hint="--force replaces it")
    kind = _RETIMED.get(retimed) or ("replaced" if there else "new")
    if dry_run:
        return Placed(kind, f"would be {retimed or kind}")
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        left_out = _write(new, own)
        if left_out and there and _same(target, {n: data for n, data in own.content.items() if n not in left_out}):
            return replace(_UNCHANGED, left_out=left_out)
        said = _put_in_place(course, lab, own.student, new)
        times.note(own)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        with suppress(OSError):  # it holds something, as it should
            new.parent.rmdir()
    return Placed(kind, retimed or said, left_out)


def _betters(course: Course, lab: str, own: Submission, usable: Callable[[Path], bool]) -> bool:
    """Whether this can be graded, and nothing of what is there: whoever's upload failed has an older one that can."""
    target, given = course.submitted(own.student, lab), any(name.endswith(".ipynb") for name in own.content)
    return given and not own.problems and not any(usable(target / f"{name}.ipynb") for name in course.notebooks(lab))


def _put_in_place(course: Course, lab: str, student: str, new: Path) -> str:
    """Make a folder the submission; return whether it is new, or where the one that was there is kept."""
    target = course.submitted(student, lab)
    if not target.exists():
        new.rename(target)
        return "new"
    old = _aside(course, lab, student, target)
    try:
        new.rename(target)
    except OSError:
        move_whole(old, target)
        raise
    return f"replaced; the one before is in {old.relative_to(course.root)}"


@dataclass(frozen=True)
class _Reckoned:
    """The times that `--late` has given to submissions of a lab, by student: nobody else knows them."""

    path: Path

    def of(self, student: str) -> str:
        """Return the time that was given to a student's submission; empty if none was."""
        return str(self._read().get(student, ""))

    def note(self, own: Submission) -> None:
        """Keep the time that a submission was placed with, or that it has none of ours."""
        before = self._read()
        now = {student: time for student, time in before.items() if student != own.student}
        if own.reckoned:
            now[own.student] = own.needed[TIMESTAMP].decode().strip()
        if now != before:
            self.path.parent.mkdir(exist_ok=True)
            write_whole(self.path, json.dumps(now, indent=0).encode())

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _retimed(folder: Path, own: Submission, times: _Reckoned) -> str:
    """Say what becomes of the time of what is there, if this is the same and only its time is another one.

    Empty if it is not the same, or if the time that is there is not ours to change.
    """
    there = folder / TIMESTAMP
    if there.is_symlink() or (there.exists() and not there.is_file()):
        return ""
    if own.reckoned and not there.exists():
        return LATE_NOW if _same(folder, {n: d for n, d in own.content.items() if n != TIMESTAMP}) else ""
    if not own.in_time or not there.exists() or TIMESTAMP in own.content:
        return ""
    data = there.read_bytes()[:100]
    ours = data.decode("utf-8", "replace").strip() == times.of(own.student)
    return IN_TIME_NOW if ours and _same(folder, {**own.content, TIMESTAMP: data}) else ""


def _aside(course: Course, lab: str, student: str, target: Path) -> Path:
    """Move the submission that is there to where those before are kept; return that place."""
    old = place_for_replaced(course.state, lab, student)
    move_whole(target, old)
    return old


def _check(target: Path) -> None:
    """Refuse a target that is not where it seems to be."""
    for folder in (target, target.parent):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise CourseError(f"{folder}: not a folder, or a link", hint="move it away and collect again")


def _same(folder: Path, content: Mapping[str, bytes]) -> bool:
    try:
        found = list(walk(folder))
    except SubmissionError:  # more than is ever placed
        return False
    there = {entry.name: entry.path for entry in found}
    if there.keys() != content.keys() or not all(entry.ordinary for entry in found):
        return False
    return all(path.stat().st_size == len(content[n]) and path.read_bytes() == content[n] for n, path in there.items())


def _same_but_for_its_time(folder: Path, own: Submission, times: _Reckoned) -> bool:
    """Whether it is what is there, which has a time, and nobody says another one now.

    A time that `--late` gives again is reckoned from a due date that has moved; one that it gave before goes where the
    system does not mark the submission as late any more (`_retimed`).
    """
    time = folder / TIMESTAMP
    if (TIMESTAMP in own.content and not own.reckoned) or not time.is_file() or time.is_symlink():
        return False
    data = time.read_bytes()
    if own.in_time and data.decode("utf-8", "replace").strip() == times.of(own.student):
        return False
    return _same(folder, {**own.content, TIMESTAMP: data})


def _replaced_before(course: Course, lab: str, own: Submission) -> Path | None:
    """Return where the same submission lies that was replaced before; None if it is nowhere.

    The files of an archive may have the time of the download, as Canvas's have. Where somebody says when this one and
    that one were handed in, the same at another time is another submission.
    """
    folder = folder_for_replaced(course.state, lab, own.student)
    with suppress(OSError):
        for before in sorted(folder.iterdir(), reverse=True):
            path = before / TIMESTAMP
            time = path.read_bytes()[:100] if path.is_file() and not path.is_symlink() else b""
            said = b"" if own.reckoned else own.needed.get(TIMESTAMP, b"")
            again = bool(time and said and time.strip() != said.strip())
            content = {name: data for name, data in own.content.items() if name != TIMESTAMP}
            if not again and _same(before, {**content, TIMESTAMP: time} if time else content):
                return before
    return None


def _newer(own: Submission, target: Path) -> bool:
    """Whether this was handed in after what is there; if both do not say when, by when the files were changed.

    What was copied, or taken from a backup, was changed when that was done.
    """
    said = [moment(text.decode("utf-8", "replace")[:100].strip()) for text in _timestamps(own, target)]
    if len(said) == 2 and said[0] is not None and said[1] is not None and said[0] != said[1]:
        return said[0] > said[1]
    return own.when > _when(target)


def _timestamps(own: Submission, target: Path) -> Iterator[bytes]:
    there = target / TIMESTAMP
    if TIMESTAMP in own.needed and there.is_file() and not there.is_symlink():
        yield own.needed[TIMESTAMP]
        with there.open("rb") as file:
            yield file.read(100)


def _when(folder: Path) -> float:
    """Return when the submission that is there was last changed."""
    found = [*folder.glob("*.ipynb")] or [folder]
    return max(path.lstat().st_mtime for path in found)


def _write(folder: Path, own: Submission) -> dict[str, str]:
    """Write the files; return those whose names this file system does not take, and why."""
    folder.mkdir(parents=True)
    left_out: dict[str, str] = {}
    for name, data in own.needed.items():
        _write_one(folder / name, data, own.when)
    for name, data in own.beside.items():
        try:
            _write_one(folder / name, data, own.when)
        except OSError as error:
            if error.errno not in _OF_NAMES:
                raise
            left_out[name] = f"its name cannot stand here: {error.strerror}"
    return left_out


def _write_one(path: Path, data: bytes, when: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
    if when:
        os.utime(path, (when, when))
