"""Which of several files or attempts of one student counts, and what is said of that: a tie is no newest one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.collect.lms_names import Piece
from autograder.collect.names import fold

__all__ = ["COPY", "UUID", "newness", "packed", "rank", "said_of_attempts", "said_of_files", "stem"]

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""What Canvas puts in a name in place of a number after seven of them."""
COPY = re.compile(rf"(?: ?\((\d+)\)|-{UUID}|-(\d+)| - copy| copy(?: (\d+))?|-copy(\d+))$", re.IGNORECASE)
_OTHER = "to take another, collect a folder with that one alone, with --force"
_WHY = (
    "which is newer",
    "which lies less deep",
    "whose name is the last copy's",
    "which is called as in the lab",
    "whose path is first in the alphabet",
    "as good as the other",
)
"""What decides between two files, in the order of `rank`."""


def rank(piece: Piece, name: str) -> tuple[object, ...]:
    """Return what sorts the file that counts first: the newest, and of one time the one that lies less deep.

    What an unpacked archive left in old/ or backup/ has the time of what lies beside it. The order in the archive
    decides nothing: the program that packed it chose that.
    """
    copies = 0 if fold(stem(piece)) == fold(name) else -_copy_number(stem(piece))
    return newness(piece), piece.path.count("/"), copies, stem(piece) != name, piece.path, packed(piece)


def newness(piece: Piece) -> tuple[float, ...]:
    """Return what is the smaller the newer a file is."""
    return tuple(-number for number in piece.order)


def packed(piece: Piece) -> tuple[str, int, int]:
    """Return what tells two files of one path apart: how it is written, and in an archive their content."""
    source = piece.member.source
    return (str(source), 0, 0) if isinstance(source, Path) else (source.orig_filename, source.file_size, source.CRC)


def stem(piece: Piece) -> str:
    """Return the name of a notebook without its ending."""
    return piece.path.rpartition("/")[2][: -len(".ipynb")]


def said_of_files(found: Sequence[Piece], name: str) -> str:
    """Return a note on the file that counts of several; where others are as new, what decided."""
    first, *others = sorted(found, key=lambda piece: rank(piece, name))
    alike = [piece for piece in others if piece.order == first.order]
    if not alike:
        return f"the newest of {len(found)} files"
    pairs = zip(rank(first, name), rank(alike[0], name), strict=True)
    why = next((reason for reason, (one, other) in zip(_WHY, pairs, strict=True) if one != other), _WHY[-1])
    return f"{_tie(len(alike) + 1, len(found), 'files', first)}: {first.path} is taken, {why}; {_OTHER}"


def said_of_attempts(ranked: Sequence[Sequence[Piece]]) -> str:
    """Return a note on the attempt that counts, the last of these; where others are as new, what decided."""
    newest = [max(piece.order for piece in own) for own in ranked]
    alike = newest.count(newest[-1])
    if max(newest) > newest[-1]:
        return f"the newest of {len(ranked)} attempts in which there is a notebook to grade"
    if alike == 1:
        return f"the newest of {len(ranked)} attempts"
    taken = ranked[-1][0]
    why = "the last in the alphabet of those with a notebook"
    return f"{_tie(alike, len(ranked), 'attempts', taken)}: {taken.attempt} is taken, {why}; {_OTHER}"


def _tie(alike: int, of: int, what: str, taken: Piece) -> str:
    time = "are of the same time" if any(taken.order) else "say no time"
    return f"{alike} {what} {time}" if alike == of else f"{alike} of {of} {what} {time}, and none is newer"


def _copy_number(name: str) -> int:
    match = COPY.search(name)
    return max([int(group) for group in match.groups() if group] or [1]) if match else 0
