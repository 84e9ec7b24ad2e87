"""Whose each file is: the names that Canvas, Moodle and Gradescope give to files and folders.

Sources: instructure/canvas-lms, lib/content_zipper.rb (`lastfirst_LATE_USER_ATTACHMENT_name`,
`anon_ID_ATTACHMENT_name`); moodle/moodle, mod/assign/locallib.php (`Full Name_PARTICIPANT_assignsubmission_file_`, as a
folder or before a file's name); Gradescope's export (`assignment_N_export/submission_N/`, and who that is in
submission_metadata.yml), as programs in public repositories read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from autograder.collect.archive import Member
from autograder.errors import CourseError

__all__ = ["SYSTEMS", "Owner", "Piece", "check_system", "detect", "in_a_submission", "pieces"]

_CANVAS = re.compile(
    r"(?:(?:LATE_)?anon_(?P<anonymous>[^_]+)|(?P<name>\w+?)(?P<late>_LATE)?_(?P<user>\d+))_(?P<file>\d+)_(?P<original>.+)",
    re.IGNORECASE,
)
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<participant>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<rest>.*))?")
_GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")


@dataclass(frozen=True)
class Owner:
    """What an archive says about the person whose a file is."""

    number: str = ""
    name: str = ""
    ids: tuple[str, ...] = ()
    email: str = ""

    def __str__(self) -> str:
        return self.name or next(iter(self.ids), "") or self.email or self.number


@dataclass(frozen=True)
class Piece:
    """One file of one submission."""

    member: Member
    owner: Owner
    attempt: str
    """What was handed in together has one name."""
    path: str
    """Within the submission, as the student called it."""
    order: tuple[float, ...] = ()
    """The greater the newer."""
    late: bool = False
    time: str = ""
    """When it was handed in, in nbgrader's way, where the system says so."""


def detect(members: Sequence[Member]) -> str:
    """Return which system named most of these files; "folders" if none did. One student's file name decides nothing."""
    named = {
        "moodle": sum(_parts(member, _MOODLE) is not None for member in members),
        "gradescope": sum(_parts(member, _GRADESCOPE) is not None for member in members),
        "canvas": sum("/" not in m.path and _CANVAS.fullmatch(m.name) is not None for m in members),
    }
    system = max(named, key=lambda name: named[name])
    return system if 2 * named[system] >= len(members) else "folders"


def pieces(
    system: str, members: Sequence[Member], lab: str, metadata: Mapping[str, Sequence[tuple[Owner, str]]]
) -> tuple[list[Piece], list[Member]]:
    """Return the files that have an owner, and those that have none."""
    readers: dict[str, Callable[[Member], Iterable[Piece]]] = {
        "canvas": _canvas,
        "moodle": _moodle,
        "gradescope": lambda member: _gradescope(member, metadata),
        "folders": partial(_folders, level=_level(members, lab), lab=lab),
    }
    found: list[Piece] = []
    nobodys: list[Member] = []
    for member in members:
        if kept := list(readers[system](member)):
            found += kept
        elif member.name != "submission_metadata.yml":
            nobodys.append(member)
    return found, nobodys


def _canvas(member: Member) -> Iterable[Piece]:
    if "/" not in member.path and (match := _CANVAS.fullmatch(member.name)):
        owner = Owner(number=match["user"] or match["anonymous"], name=match["name"] or "")
        late = match["late"] is not None or member.name.upper().startswith("LATE_ANON_")
        yield Piece(member, owner, owner.number, match["original"], (float(match["file"]),), late=late)


def _moodle(member: Member) -> Iterable[Piece]:
    if (found := _parts(member, _MOODLE)) and found[1]["kind"] == "file":
        place, match = found
        parts = member.path.split("/")
        inner = "/".join(parts[place + 1 :]) or match["rest"]
        owner = Owner(number=match["participant"], name=match["name"])
        if inner:
            yield Piece(member, owner, match["participant"], inner, (member.when,))


def _gradescope(member: Member, metadata: Mapping[str, Sequence[tuple[Owner, str]]]) -> Iterable[Piece]:
    if found := _parts(member, _GRADESCOPE):
        place, match = found
        folder = match[0]
        inner = "/".join(member.path.split("/")[place + 1 :])
        for owner, time in metadata.get(folder) or [(Owner(number=match["number"]), "")]:
            if inner:
                yield Piece(member, owner, folder, inner, (_digits(time), float(match["number"])), time=time)


def _folders(member: Member, *, level: int, lab: str) -> Iterable[Piece]:
    """Read STUDENT/file and STUDENT/LAB/file; no folder of a student's own is taken for another student."""
    parts = member.path.split("/")
    if len(parts) > level + 1:
        inner = parts[level + 1 :]
        if inner[0] == lab and len(inner) > 1:
            inner = inner[1:]
        yield Piece(member, Owner(ids=(parts[level],)), parts[level], "/".join(inner), (member.when,))


def _level(members: Sequence[Member], lab: str) -> int:
    """Return how many folders stand around those of the students."""
    folders = [m.path.split("/")[:-1] for m in members if m.name.lower().endswith(".ipynb") and "/" in m.path]
    if not folders:
        return 0
    shared = [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))]
    if shared not in folders and not all(folder[len(shared)] == lab for folder in folders):
        return len(shared)
    return max(0, (shared.index(lab) if lab in shared[1:] else len(shared)) - 1)


def in_a_submission(member: Member) -> bool:
    """Whether a file stands in one of Gradescope's submissions, where a student may have put it."""
    return _parts(member, _GRADESCOPE) is not None


def _parts(member: Member, pattern: re.Pattern[str]) -> tuple[int, re.Match[str]] | None:
    """Return the first part of a path that is such a name, and where it is."""
    for place, part in enumerate(member.path.split("/")):
        if match := pattern.fullmatch(part):
            return place, match
    return None


def _digits(time: str) -> float:
    return float("".join(re.findall(r"\d", time[:19])) or 0)


SYSTEMS = ("auto", "canvas", "moodle", "gradescope", "folders")


def check_system(system: str, members: Sequence[Member]) -> str:
    """Return the system asked for, or the one detected; raise CourseError if nothing is there."""
    if not members:
        raise CourseError("nothing in it that could be a submission", hint="give the zip file of all submissions")
    return detect(members) if system == "auto" else system
