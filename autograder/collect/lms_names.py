"""Whose each file is: the names that Canvas, Moodle and Gradescope give to files and folders.

Sources: instructure/canvas-lms, lib/content_zipper.rb (`lastfirst_LATE_USER_ATTACHMENT_name`,
`anon_ID_ATTACHMENT_name`); moodle/moodle, mod/assign/locallib.php (`Full Name_PARTICIPANT_assignsubmission_file_`, as a
folder or before a file's name); Gradescope's export (`assignment_N_export/submission_N/`, and who that is in
submission_metadata.yml), as programs in public repositories read it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from autograder.collect.archive import Member
from autograder.errors import CourseError

__all__ = ["SYSTEMS", "Owner", "Piece", "check_system", "detect", "in_a_submission", "pieces", "student_level"]

_CANVAS = re.compile(
    r"(?:(?:LATE_)?anon_(?P<anonymous>(?!LATE_)[^_]+)|(?P<name>\w+?)(?P<late>_LATE)?_(?P<user>\d+))_(?P<file>\d+)_(?P<original>.+)",
    re.IGNORECASE,
)
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<participant>\d+)_assignsubmission_(?P<kind>[a-z0-9]+)(?:_(?P<rest>.*))?")
"""Of any kind of submission: what a student calls files of one that we do not read is no other student's."""
_MOODLE_ENDS = re.compile(r"_\d+(?=_assignsubmission_[a-z0-9]+(?:_|$))")
"""Where a full name may end. One that has this in it itself, and a file's name that has, look the same."""
_NO_FILES = {"onlinetext": "a text typed into Moodle, not a file"}
_GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")
_USUAL = re.compile(r"submitted|submissions|assignment_\d+_export", re.IGNORECASE)


@dataclass(frozen=True)
class Owner:
    """What an archive says about the person whose a file is."""

    number: str = ""
    name: str = ""
    ids: tuple[str, ...] = ()
    email: str = ""
    unnamed: str = ""
    """Where the system's own list should name the person and does not, in words: its number alone is no id."""

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
    problem: str = ""
    """Why it is not taken, whatever its name is."""
    within: str = ""
    """The student's own zip file that it was in."""
    cells_of: str = ""
    """Which of a lab's several notebooks has its cells, where somebody has looked and that is sure."""


Known = Callable[[str], bool]
"""Whether the gradebook or the roster has a student of this id."""


def _nobody(_name: str) -> bool:
    return False


def detect(members: Sequence[Member], lab: str = "", known: Known = _nobody) -> str:
    """Return which system named most of these files; "folders" if none did; CourseError if that cannot be told.

    What stands in a student's folder decides nothing, whatever the student called it.
    """
    around = _around(members, lab, known)
    named = Counter(_named_by(member, around) for member in members)
    del named[""]
    system = max(("moodle", "gradescope", "canvas"), key=lambda name: named[name])
    if 2 * named[system] >= len(members):
        return system
    shared, _ = _shared(members)
    if shared and not known(shared[-1]) and _as_canvas_names(members, len(shared)):
        raise CourseError(
            f"{'/'.join(shared)}/ holds files that are called as Canvas calls those of several students:"
            " is it one student's folder, or does it stand around what Canvas has handed out?",
            hint="--from canvas: it stands around them; --from folders: it is one student's",
        )
    return "folders"


def _named_by(member: Member, around: set[int]) -> str:
    """Return the system that named a file: the one whose words end first, for what follows is the student's."""
    if (found := _parts(member, _GRADESCOPE)) and found[0] in around:
        return "gradescope"
    canvas = next((name for level in sorted(around) if (name := _canvas_name(member, level))), None)
    if (found := _parts(member, _MOODLE)) and found[0] in around:
        return "canvas" if canvas and canvas.start("original") < found[1].end("kind") else "moodle"
    return "canvas" if canvas else ""


def _canvas_name(member: Member, level: int) -> re.Match[str] | None:
    """Return what Canvas's name of a file says, below so many folders."""
    return _CANVAS.fullmatch("/".join(member.path.split("/")[level:]))


def _canvas_level(members: Sequence[Member]) -> int:
    """Return how many folders stand around what Canvas has named."""
    levels = (level for member in members for level in range(member.path.count("/") + 1) if _canvas_name(member, level))
    return min(levels, default=0)


def pieces(
    system: str,
    members: Sequence[Member],
    lab: str,
    metadata: Mapping[str, Sequence[tuple[Owner, str]]] | None,
    known: Known = _nobody,
) -> tuple[list[Piece], list[Member], str]:
    """Return the files that have an owner, those that have none, and the folder that stands around all submissions.

    metadata: who handed in each of Gradescope's folders, and when; None if the archive has no list of that.
    """
    levels: dict[str, Callable[[], int]] = {
        "canvas": partial(_canvas_level, members),
        "moodle": partial(_level, members, _MOODLE),
        "gradescope": partial(_level, members, _GRADESCOPE),
        "folders": partial(student_level, members, lab, known),
    }
    level = levels[system]()
    readers: dict[str, Callable[[Member], Iterable[Piece]]] = {
        "canvas": partial(_canvas, level=level),
        "moodle": partial(_moodle, level=level),
        "gradescope": partial(_gradescope, metadata=metadata, level=level),
        "folders": partial(_folders, level=level, lab=lab),
    }
    found: list[Piece] = []
    nobodys: list[Member] = []
    for member in members:
        if kept := list(readers[system](member)):
            found += kept
        elif member.name != "submission_metadata.yml":
            nobodys.append(member)
    if not found and (like := detect(members, lab, known)) not in {system, "folders"}:
        raise CourseError(f"nothing in it has a name that {system} gives", hint=f"is it of {like}? --from auto says so")
    around = {"/".join(piece.member.path.split("/")[:level]) for piece in found}
    return found, nobodys, around.pop() if len(around) == 1 else ""


def _canvas(member: Member, *, level: int) -> Iterable[Piece]:
    if match := _canvas_name(member, level):
        owner = Owner(number=match["user"] or match["anonymous"], name=match["name"] or "")
        late = match["late"] is not None or match[0].upper().startswith("LATE_ANON_")
        yield Piece(member, owner, owner.number, match["original"], (float(match["file"]),), late=late)


def _moodle(member: Member, *, level: int) -> Iterable[Piece]:
    if (found := _parts(member, _MOODLE)) and found[0] == level:
        place, match = found
        if len(_MOODLE_ENDS.findall(match[0])) > 1:
            return
        other = _NO_FILES.get(match["kind"], f"not of the files handed in, but of Moodle's {match['kind']}")
        problem = "" if match["kind"] == "file" else other
        parts = member.path.split("/")
        inner = "/".join(filter(None, [match["rest"], *parts[place + 1 :]]))
        owner = Owner(number=match["participant"], name=match["name"])
        if inner:
            yield Piece(member, owner, match["participant"], inner, (member.when,), problem=problem)


def _gradescope(
    member: Member, *, metadata: Mapping[str, Sequence[tuple[Owner, str]]] | None, level: int
) -> Iterable[Piece]:
    if (found := _parts(member, _GRADESCOPE)) and found[0] == level:
        place, match = found
        folder = match[0]
        inner = "/".join(member.path.split("/")[place + 1 :])
        unnamed = "" if metadata is None else f"submission_metadata.yml names nobody for {folder}"
        listed = (metadata or {}).get(folder)
        for owner, time in listed or [(Owner(number=match["number"], unnamed=unnamed), "")]:
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


def student_level(members: Sequence[Member], lab: str, known: Known = _nobody) -> int:
    """Return how many folders stand around those of the students; raise CourseError if that cannot be told.

    The one student of an archive could call folders after others, and would replace what they handed in. So a folder
    around all others is passed over only if it has a usual name, or if a student whom we know stands in it.
    """
    shared, folders = _shared(members)
    if not folders:
        return 0
    if shared not in folders and not all(folder[len(shared)] == lab for folder in folders):
        deepest = len(shared)
    else:
        deepest = max(0, (shared.index(lab, 1) if lab in shared[1:] else len(shared)) - 1)
    for level in range(deepest + 1):
        if any(known(folder[level]) for folder in folders):
            return level
    level = 0
    while level < deepest and _is_usual(shared[level], lab):
        level += 1
    if level < deepest:
        inside = ", ".join(sorted({folder[level + 1] for folder in folders})[:3])
        raise CourseError(
            f"{'/'.join(shared[: level + 1])}/ stands around all notebooks, and nobody in it is known ({inside}):"
            " is it one student's folder, or does it hold those of the students?",
            hint="give --roster FILE that names the students, or a folder in which each student's stands by itself,"
            " or, where an LMS has named them, --from SYSTEM",
        )
    return level


def _as_canvas_names(members: Sequence[Member], level: int) -> bool:
    """Whether most files below so many folders are called as Canvas calls those of more than one student."""
    found = [match for member in members if (match := _canvas_name(member, level))]
    return 2 * len(found) >= len(members) and len({match["user"] or match["anonymous"] for match in found}) > 1


def _shared(members: Sequence[Member]) -> tuple[list[str], list[list[str]]]:
    """Return the folders that stand around every notebook that is in a folder, and the folders of each of these."""
    for kind in (".ipynb", ".zip"):  # students who hand in zip files may be all there are
        if folders := [m.path.split("/")[:-1] for m in members if m.name.lower().endswith(kind) and "/" in m.path]:
            break
    same = takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))
    return [parts[0] for parts in same], folders


def _around(members: Sequence[Member], lab: str, known: Known) -> set[int]:
    """Return how many folders may stand around those that a system has named: none of them is a student's own."""
    places = {0}
    for number, name in enumerate(_shared(members)[0], 1):
        if known(name) or not _is_usual(name, lab):
            break
        places.add(number)
    return places


def _is_usual(name: str, lab: str) -> bool:
    """Whether this is what people and systems call a folder that holds the students'."""
    return name == lab or _USUAL.fullmatch(name) is not None


def _level(members: Sequence[Member], pattern: re.Pattern[str]) -> int:
    """Return how many folders stand around what a system has named; further in, students choose names."""
    return min((found[0] for member in members if (found := _parts(member, pattern))), default=0)


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


def check_system(system: str, members: Sequence[Member], lab: str = "", known: Known = _nobody) -> str:
    """Return the system asked for, or the one detected; raise CourseError if nothing is there."""
    if not members:
        raise CourseError("nothing in it that could be a submission", hint="give the zip file of all submissions")
    return detect(members, lab, known) if system == "auto" else system
