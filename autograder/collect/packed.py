"""A student's own zip file within the archive: opened once, with the archive's rules, where it holds the notebook."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.collect.archive import Archive, open_zip
from autograder.collect.lms_names import Piece
from autograder.collect.names import is_timestamp
from autograder.errors import SubmissionError

__all__ = ["Unpacked", "unpacked"]

_MAX_BYTES = 100 * 2**20
"""A notebook may have 20 MiB, and so may what stands beside it in most courses."""
_MAX_ZIPS = 5
"""So many of one attempt are opened."""
_MAX_MEMBERS = 5000


@dataclass
class Unpacked:
    """The files of one student, those of a zip file in its place; and what of it is left out, with the reason."""

    pieces: list[Piece] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    damaged: list[tuple[str, str]] = field(default_factory=list)
    """Those that cannot be read: a submission is lost with them."""


def unpacked(archive: Archive, pieces: Sequence[Piece], stack: ExitStack) -> Unpacked:
    """Open the zip files of each attempt that has no notebook outside them; they are closed with the stack.

    A zip file in such a zip file stays closed, so none unpacks to more than one level; of each file no more is read
    than is allowed for it.
    """
    has = {piece.attempt for piece in pieces if piece.path.lower().endswith(".ipynb") and not piece.problem}
    found = Unpacked()
    opened: dict[str, int] = {}
    for piece in pieces:
        packed = piece.path.lower().endswith(".zip") and not piece.problem and piece.attempt not in has
        opened[piece.attempt] = opened.get(piece.attempt, 0) + packed
        if not packed or opened[piece.attempt] > _MAX_ZIPS:
            found.pieces.append(piece)
            continue
        try:
            _open(archive, piece, found, stack)
        except Exception as error:  # zipfile's reader fails in many ways, and this file is a student's
            found.damaged.append((piece.path, f"cannot be opened: {_first_line(error)}"))
    return found


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _open(archive: Archive, piece: Piece, found: Unpacked, stack: ExitStack) -> None:
    content = archive.read(piece.member, _MAX_BYTES)
    # Counted before a list is made of its entries: 295,000 empty ones have room in 8 MiB, and take 200 MiB.
    inner = open_zip(Path(piece.path), io.BytesIO(content), stack, _MAX_MEMBERS)
    if not inner.members:
        why = next((f"nothing of it is taken: {path}: {why}" for path, why in inner.left_out), "nothing is in it")
        raise SubmissionError(why)
    found.left_out += [(f"{piece.path}: {path}", why) for path, why in inner.left_out]
    found.pieces += _pieces(piece, inner)


def _pieces(piece: Piece, inner: Archive) -> Iterator[Piece]:
    """Yield the files in a zip file as if they had been handed in one by one, without a folder around all of them."""
    paths = [member.path for member in inner.members]
    around = _around(paths)
    for member in inner.members:
        # When a file was changed is the student's word there; when the zip file came is the system's.
        own = replace(member, when=piece.member.when, zipped=inner.zipped)
        path = member.path[len(around) :]
        problem = "a student's own timestamp.txt proves nothing" if is_timestamp(path) else ""
        order = (*piece.order, member.when)
        yield replace(piece, member=own, path=path, order=order, problem=problem, within=piece.path)


def _around(paths: Collection[str]) -> str:
    """Return the folder that all files are in, with its slash; nothing if there is none."""
    tops = {path.partition("/")[0] if "/" in path else "" for path in paths}
    return f"{top}/" if len(tops) == 1 and (top := next(iter(tops))) else ""
