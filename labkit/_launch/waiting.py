"""Who waits for whom: each rank notes it before it waits, and the launch sees when nobody can go on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["EXCHANGE", "RECEIVE", "SEND", "Wait", "Waits", "explain", "read_waits", "stuck"]

SEND, RECEIVE, EXCHANGE = "send to", "receive from", "receive in an exchange from"
_BYTES = 64


@dataclass(frozen=True)
class Wait:
    """What a rank waits for, and the how manieth time it waits."""

    what: str
    other: int
    number: int = 0


class Waits:
    """One rank's notes, in a file that outlives it."""

    def __init__(self, folder: Path, rank: int) -> None:
        self._file = os.open(folder / f"wait-{rank}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        self._number = 0

    @contextlib.contextmanager
    def noted(self, what: str, other: int) -> Iterator[None]:
        """Let the note stand while the body runs; it stays if the process ends there."""
        self._number += 1
        os.pwrite(self._file, f"{what}:{other}:{self._number}".ljust(_BYTES).encode(), 0)
        yield
        os.pwrite(self._file, b" " * _BYTES, 0)


def read_waits(folder: Path, ranks: Collection[int]) -> dict[int, Wait]:
    """Return what these ranks wait for, of those that have noted it."""
    found = {}
    for rank in ranks:
        file = folder / f"wait-{rank}"
        note = file.read_text().strip() if file.exists() else ""
        if note.count(":") == 2:
            what, other, number = note.split(":")
            found[rank] = Wait(what, int(other), int(number))
    return found


def stuck(waits: Mapping[int, Wait], done: Collection[int]) -> dict[int, Wait]:
    """Return the waits that cannot end if they last: for a rank that has returned, or in a circle."""
    circle = _circle(waits)
    return {rank: wait for rank, wait in waits.items() if wait.other in done or rank in circle}


def explain(waits: Mapping[int, Wait]) -> list[str]:
    """Return a sentence a waiting rank, and what keeps them from going on."""
    lines = [f"rank {rank} waits to {wait.what} rank {wait.other}" for rank, wait in sorted(waits.items())]
    if circle := _circle(waits):
        lines.append("a circle: " + ", ".join(f"{rank} for {waits[rank].other}" for rank in circle))
        kinds = {waits[rank].what for rank in circle}
        if kinds == {SEND}:
            lines.append("let one of them receive first, or use exchange, which sends and receives at once")
        elif kinds == {RECEIVE}:
            lines.append("one of them has to send first")
    return lines


def _circle(waits: Mapping[int, Wait]) -> list[int]:
    """Return ranks of which each waits for the next, and the last for the first; nothing if there are none.

    Who sends and who receives from it are a pair that goes on; and in an exchange the own message is on its way.
    """
    following = {rank: wait.other for rank, wait in waits.items() if wait.what != EXCHANGE and not _paired(waits, rank)}
    for start in sorted(following):
        path = [start]
        while (after := following.get(path[-1])) is not None:
            if after == start:
                return path
            if after in path:
                break
            path.append(after)
    return []


def _paired(waits: Mapping[int, Wait], rank: int) -> bool:
    wait = waits[rank]
    other = waits.get(wait.other)
    return other is not None and other.other == rank and {wait.what, other.what} == {SEND, RECEIVE}
