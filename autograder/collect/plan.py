"""Which file goes where, and which is left out and why: the student of each submission, its newest notebook."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from autograder.collect.candidates import candidates, other_notebook, taken_for
from autograder.collect.lms_names import Owner, Piece
from autograder.collect.names import TIMESTAMP, Names, fold, is_timestamp, misplaced
from autograder.collect.order import newness, packed, rank, said_of_attempts, said_of_files
from autograder.lms.keys import keys
from autograder.lms.roster import Person, Roster

__all__ = ["IN_ARCHIVE", "Handover", "plan", "students_of"]

IN_ARCHIVE = "not opened: only a zip file that holds the notebook is"

_PACKED = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".bz2", ".xz")
_MAX_FILES = 2000
"""How many files of one student are looked at beside the notebooks."""


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
    late: bool = False
    """The system has marked it as late, and has not said when it came."""


@dataclass(frozen=True)
class _Claim:
    """Whom an owner is taken for; or nobody, and why."""

    student: str = ""
    note: str = ""
    strength: int = 0
    clash: str = "this folder is another's; give --roster FILE"
    """Why the owner is left out where somebody else is as surely this student."""


_SURE, _MAYBE = 2, 1
"""By what the system gives; by a name or a part of an address. 0 is the archive's own name for somebody."""
_ONE_PERSON = "if that is one person, give the gradebook this e-mail address, or one id (docs/instructors.md, two ids)"
_NAME = "more than one person has the name of this student"
_PART = "only the part of an address before the @ says that this is {}, and somebody else is as likely"
_ID = "more than one person in it has an id or address of {}"


_BESIDE = "another file of this name lies beside the notebook"
_SPELLED = "{} folders, whose names differ only in how an accent is written, are taken for one student's"


def students_of(owners: Sequence[Owner], roster: Roster) -> dict[Owner, tuple[str, str]]:
    """Return each owner's student and a note, or no student and the reason why there is none.

    What is surest decides: ids, numbers and whole addresses go before names and parts of addresses, which people
    choose. Where two people would be one student, only the surer one is; if both are as sure, neither.
    """
    names = Counter(fold(str(owner)) for owner in owners)
    claims = {owner: _claim(owner, roster, alone=names[fold(str(owner))] == 1) for owner in owners}
    claimed = Counter((claim.student, claim.strength) for claim in claims.values())
    folders = Counter((fold(claim.student), claim.strength) for claim in claims.values())
    found = {}
    for owner, claim in claims.items():
        counts, key = (claimed, claim.student) if claim.strength else (folders, fold(claim.student))
        clash = claim.student and sum(counts[key, strength] for strength in range(claim.strength, _SURE + 1)) > 1
        found[owner] = ("", claim.clash) if clash else (claim.student, claim.note)
    return found


def _claim(owner: Owner, roster: Roster, *, alone: bool) -> _Claim:
    """Return the student by what the system alone gives, its numbers, ids and addresses; else by name."""
    own = Person(owner.ids, email=owner.email)
    person = (roster.by_number(owner.number) if owner.number else None) or roster.by_own(own)
    matches = [roster.match(who) for who in (own, person) if who]
    best = max(matches, key=lambda match: (bool(match.student), match.exact))
    if best.student and "/" not in best.student:
        strength, clash = (_SURE, _ID) if best.exact else (_MAYBE, _PART)
        return _Claim(best.student, "", strength, clash.format(best.student))
    doubt = next((match.doubt for match in matches if match.doubt), "")
    if not doubt and (person or not _of_name(owner, roster)):
        given = [*own.ids, *(person.ids if person else ()), own.email, person.email if person else ""]
        student, note = _new(given, roster, [owner.name, *(person.names if person else ())])
        if student:
            return _Claim(student, note, _SURE, _ID.format(student))
    named = _by_name(owner, person, roster) if owner.name else _Claim()
    if named.student or named.note or doubt:
        return named if named.student else _Claim(note=doubt or named.note)
    return _Claim(*_unknown(owner, roster, alone=alone))


def _by_name(owner: Owner, row: Person | None, roster: Roster) -> _Claim:
    """Return the student by name; `row` is what numbers, ids and addresses say of the owner in the roster."""
    person = row or roster.by_name(owner.name)
    doubt = ""
    if person and not row:
        found, doubt, note = _of_name(owner, roster), roster.match(person).doubt, ""
        if not found and not doubt:
            found, note = _new([*person.ids, person.email], roster, [owner.name, *person.names])
        if found:
            return _Claim(found, note, _MAYBE, f"{_NAME}; {_row_wanted(owner, roster)}")
    match = roster.called(owner.name, person)
    if match.doubt and not row:
        return _Claim(note=f"{match.doubt}; {_row_wanted(owner, roster)}")
    clash = f"{_NAME}; {_row_wanted(owner, roster)}"
    return _Claim(match.student, match.doubt or ("" if match.student else doubt), _MAYBE, clash)


def _of_name(owner: Owner, roster: Roster) -> str:
    """Return the student of the gradebook who is the roster's one person of this name; empty if there is none."""
    person = roster.by_name(owner.name) if owner.name else None
    found = roster.student(person) if person else ""
    return "" if "/" in found else found


def _new(given: Iterable[str], roster: Roster, names: Iterable[str]) -> tuple[str, str]:
    """Return the first id that can be one, and a note: that it is new, and who in the gradebook has this name."""
    new = "a student whom the gradebook does not know yet" if roster.tells_new else ""
    if new and (alike := roster.namesakes(names)):
        there = f"{' and '.join(alike)} {'there' if roster.known else 'of an earlier collect'}"
        new += f"; {there} {'has' if len(alike) == 1 else 'have'} this name: {_ONE_PERSON}"
    return next(((own, new) for own in given if own and _is_folder_name(own)), ("", ""))


def _unknown(owner: Owner, roster: Roster, *, alone: bool) -> tuple[str, str]:
    if owner.unnamed:
        return "", owner.unnamed
    if owner.ids or not _is_folder_name(str(owner)):
        return "", "that cannot be the name of a student's folder"
    if not owner.ids and not (alone and _called_once(owner.name, roster)):
        return "", f"more than one person has this name; {_row_wanted(owner, roster)}"
    if roster.known or roster.table is not None:
        where = " or in the roster" if roster.table else "; give --roster FILE"
        return "", f"no such student in the gradebook{where}"
    return str(owner), "the name is the archive's; with --roster FILE it would be the id"


def _called_once(name: str, roster: Roster) -> bool:
    """Whether no two rows of the roster have a name; as far as it is known to be one."""
    own = set(keys((name,)))
    return sum(not own.isdisjoint(keys(person.names)) for person in roster.people) < 2


def _row_wanted(owner: Owner, roster: Roster) -> str:
    """Return which row of a roster would say who this is, as the system's number does what a name does not."""
    if not owner.number:
        return "give --roster FILE"
    row = f"a row for the number {owner.number} (Canvas: column ID; Moodle: Participant {owner.number} in Identifier)"
    if roster.table is None:
        return f"give --roster FILE with {row}"
    return f"the roster needs {row} with an id or an address"


def plan(pieces: Iterable[Piece], student: str, names: Collection[str], *, keep_timestamp: bool, room: int) -> Handover:
    """Choose the newest attempt of one student; `room` is how many bytes may stand beside the notebooks."""
    attempts: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        attempts[piece.attempt].append(piece)
    ranked = sorted(
        attempts.values(),
        key=lambda own: (bool(candidates(own, names)), max(piece.order for piece in own), own[0].attempt),
    )
    newest = ranked[-1]
    made = Handover(student, time=newest[0].time)
    if len(ranked) > 1:
        made.notes.append(said_of_attempts(ranked))
    made.late = any(piece.late for piece in newest) and not made.time
    if (folders := len({_written(piece) for piece in newest})) > 1:
        made.notes.append(_SPELLED.format("two" if folders == 2 else folders))
    notebooks = candidates(newest, names)
    for name, found in notebooks.items():
        made.notebooks[name] = chosen = min(found, key=lambda piece: rank(piece, name))
        other = [piece for piece in found if _written(piece) != _written(chosen)]
        made.left_out += [(piece.path, "in another folder of this name, and not newer") for piece in other]
        if len(found) > 1:
            made.notes.append(said_of_files(found, name))
        made.notes += taken_for(chosen, name, names)
    used = {id(piece) for found in notebooks.values() for piece in found}  # comparing each with each takes minutes
    others = _moved_along([piece for piece in newest if id(piece) not in used], [*made.notebooks.values()])
    reserved = Names(f"{name}.ipynb" for name in names)
    _take_files(made, others, reserved, keep_timestamp=keep_timestamp, room=room)
    return made


def _moved_along(others: Sequence[Piece], notebooks: Sequence[Piece]) -> list[Piece]:
    """Return the other files, those first, and without their folder, that lie in the folder of all notebooks.

    A notebook is put at the top, and opens what lay beside it by the name that it had there.
    """
    places = {(notebook.within, notebook.path.rpartition("/")[0]) for notebook in notebooks}
    within, folder = places.pop() if len(places) == 1 else ("", "")
    inside = [
        piece
        for piece in others
        if folder
        and piece.within == within
        and piece.path.startswith(f"{folder}/")
        and not piece.path.lower().endswith(".ipynb")
        and not is_timestamp(piece.path.rpartition("/")[2])
    ]
    moved = {id(piece) for piece in inside}
    along = [replace(piece, path=piece.path.removeprefix(f"{folder}/")) for piece in inside]
    names = {fold(piece.path) for piece in along}
    rest = [piece for piece in others if id(piece) not in moved]
    return along + [replace(p, problem=p.problem or _BESIDE) if fold(p.path) in names else p for p in rest]


def _take_files(made: Handover, others: Sequence[Piece], taken: Names, *, keep_timestamp: bool, room: int) -> None:
    """Take the files beside the notebooks that fit, and note why each of the others does not."""
    ranked = sorted(others, key=lambda piece: (piece.path.count("/"), piece.path, newness(piece), packed(piece)))
    for piece in ranked[:_MAX_FILES]:
        problem = piece.problem or misplaced(piece.path)
        if problem:
            pass
        elif piece.path.lower().endswith(".ipynb"):
            problem = other_notebook(made.notebooks, piece)
        elif is_timestamp(piece.path) and not (keep_timestamp and piece.path == TIMESTAMP):
            problem = "a student's own timestamp.txt proves nothing"
        elif fold(piece.path).endswith(_PACKED):
            problem = IN_ARCHIVE
        elif taken.clash(piece.path):
            problem = "its name is another file's, but for upper and lower case"
        elif piece.member.size > room:
            problem = "the files beside the notebook are too large (max_dir_size)"
        if problem:
            made.left_out.append((piece.path, problem))
        else:
            made.files[piece.path] = piece
            taken.add(piece.path)
            room -= piece.member.size
    if (surplus := len(ranked) - _MAX_FILES) > 0:
        made.left_out.append((f"{surplus} more", f"more than {_MAX_FILES} files beside the notebook"))


def _written(piece: Piece) -> str:
    """Return the name of a student's folder as it is written, where it alone says whose it is.

    Letters with accents are written in two ways, which no file system should have side by side, but two have when what
    they hold is put together. The paths of an archive are all read as one of them.
    """
    inside = piece.member.path.split("/")
    if piece.owner.ids != (piece.attempt,) or piece.attempt not in inside:
        return ""
    written = [part for part in packed(piece)[0].replace("\\", "/").split("/") if part not in {"", "."}]
    return written[inside.index(piece.attempt) - len(inside)] if len(written) >= len(inside) else ""


def _is_folder_name(name: str) -> bool:
    """Whether this can be a student's folder: one name, visible, that no program takes for anything else."""
    fits = bool(name) and name == name.strip() and name.isprintable() and len(name.encode("utf-8", "replace")) <= 200
    return fits and name[0] not in ".-~" and not set(name) & set('/\\:*?"<>|+')
