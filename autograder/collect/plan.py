"""Which file goes where: the student of each submission, its newest notebook, and the files beside it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from autograder.collect.layout import Owner, Piece
from autograder.lms.roster import Person, Roster

__all__ = ["Handover", "plan", "students_of"]

_PACKED = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".bz2", ".xz")
_COPY = re.compile(r"(?: ?\((\d+)\)|-(\d+)| - copy| copy(?: (\d+))?|-copy(\d+))$", re.IGNORECASE)


@dataclass
class Handover:
    """What is to be put into one student's folder."""

    student: str
    notebooks: dict[str, Piece] = field(default_factory=dict)
    files: dict[str, Piece] = field(default_factory=dict)
    time: str = ""
    notes: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Files of this student that are not taken, and why."""


def students_of(owners: Sequence[Owner], roster: Roster) -> dict[Owner, tuple[str, str]]:
    """Return each owner's student and a note, or no student and the reason why there is none.

    An id of the gradebook or the roster goes before a name; a name that leads two people to one student leads neither.
    """
    sure = {owner: own for owner in owners if (own := _by_id(owner, roster))[0]}
    named = {owner: roster.named(owner.name) for owner in owners if owner not in sure and owner.name}
    claims = Counter([student for student, _ in sure.values()]) + Counter(filter(None, named.values()))
    names = Counter(str(owner) for owner in owners)
    found = dict(sure)
    for owner in owners:
        if owner in sure:
            continue
        if student := named.get(owner):
            clash = "more than one person has the name of this student; give --roster FILE"
            found[owner] = (student, "") if claims[student] == 1 else ("", clash)
        else:
            found[owner] = _unknown(owner, roster, alone=names[str(owner)] == 1)
    return found


def _by_id(owner: Owner, roster: Roster) -> tuple[str, str]:
    person = roster.by_number(owner.number) if owner.number else None
    person = person or (roster.by_name(owner.name) if owner.name else None)
    for ids, email in ((owner.ids, owner.email), (person.ids, person.email) if person else ((), "")):
        if (found := roster.student(Person(ids, email=email))) and "/" not in found:
            return found, ""
    new = "a student whom the gradebook does not know yet" if roster.known else ""
    given = [*owner.ids, *(person.ids if person else ()), owner.email, person.email if person else ""]
    return next(((own, new) for own in given if own and _is_folder_name(own)), ("", ""))


def _unknown(owner: Owner, roster: Roster, *, alone: bool) -> tuple[str, str]:
    if owner.ids or not _is_folder_name(str(owner)):
        return "", "that cannot be the name of a student's folder"
    if roster.known or roster.table is not None:
        where = " or in the roster" if roster.table else "; give --roster FILE"
        return "", f"no such student in the gradebook{where}"
    name = str(owner) if alone else f"{owner}_{owner.number}"
    return name, "the name is the archive's; with --roster FILE it would be the id"


def plan(pieces: Iterable[Piece], student: str, names: Collection[str], *, keep_timestamp: bool, room: int) -> Handover:
    """Choose the newest attempt of one student; `room` is how many bytes may stand beside the notebooks."""
    attempts: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        attempts[piece.attempt].append(piece)
    ranked = sorted(attempts.values(), key=lambda own: (bool(_candidates(own, names)), max(p.order for p in own)))
    newest = ranked[-1]
    made = Handover(student, time=newest[0].time)
    if len(ranked) > 1:
        made.notes.append(f"the newest of {len(ranked)} attempts")
    if any(piece.late for piece in newest):
        made.notes.append("late")
    candidates = _candidates(newest, names)
    for name, found in candidates.items():
        made.notebooks[name] = chosen = max(found, key=lambda p: (p.order, _copy_number(_stem(p)), _stem(p) == name))
        if len(found) > 1:
            made.notes.append(f"the newest of {len(found)} files")
        if _stem(chosen) != name or "/" in chosen.path:
            made.notes.append(f"was {chosen.path}")
    used = [piece for found in candidates.values() for piece in found]
    _take_files(made, [piece for piece in newest if piece not in used], keep_timestamp=keep_timestamp, room=room)
    return made


def _candidates(own: Sequence[Piece], names: Collection[str]) -> dict[str, list[Piece]]:
    """Return the notebooks that may be each of the lab's; the only notebook is the lab's whatever it is called."""
    notebooks = [piece for piece in own if piece.path.lower().endswith(".ipynb")]
    found = {name: [p for p in notebooks if _plain(_stem(p)) == _plain(name) or _stem(p) == name] for name in names}
    if len(names) == 1 and notebooks and not any(found.values()):
        found = dict.fromkeys(names, notebooks)
    return {name: pieces for name, pieces in found.items() if pieces}


def _take_files(made: Handover, others: Sequence[Piece], *, keep_timestamp: bool, room: int) -> None:
    taken = {_fold(f"{name}.ipynb") for name in made.notebooks}
    for piece in sorted(others, key=lambda piece: (piece.path, piece.order)):
        problem = ""
        folded = _fold(piece.path)
        if piece.path.lower().endswith(".ipynb"):
            problem = "another notebook"
        elif folded == "timestamp.txt" and not keep_timestamp:
            problem = "a student's own timestamp.txt proves nothing"
        elif folded.endswith(_PACKED):
            problem = "an archive in the archive is not opened"
        elif any(folded == t or folded.startswith(f"{t}/") or t.startswith(f"{folded}/") for t in taken):
            problem = "its name is another file's, but for upper and lower case"
        elif piece.member.size > room:
            problem = "the files beside the notebook are too large (max_dir_size)"
        if problem:
            made.left_out.append((piece.path, problem))
        else:
            made.files[piece.path] = piece
            taken.add(folded)
            room -= piece.member.size


def _stem(piece: Piece) -> str:
    return piece.path.rpartition("/")[2][: -len(".ipynb")]


def _plain(stem: str) -> str:
    """Return a name without what browsers, Canvas and Jupyter add to a copy of a file."""
    plain = _fold(stem).strip()
    while match := _COPY.search(plain):
        plain = plain[: match.start()].strip()
    return plain


def _copy_number(stem: str) -> int:
    match = _COPY.search(stem)
    return max([int(group) for group in match.groups() if group] or [1]) if match else 0


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _is_folder_name(name: str) -> bool:
    """Whether this can be a student's folder: one name, visible, that no program takes for anything else."""
    fits = bool(name) and name == name.strip() and name.isprintable() and len(name.encode("utf-8", "replace")) <= 200
    return fits and name[0] not in ".-~" and not set(name) & set('/\\:*?"<>|+')
