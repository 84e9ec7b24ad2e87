"""Who waits for whom: each rank notes it before it waits, and the launch sees when nobody can go on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["EXCHANGE", "RECEIVE", "SEND", "Wait", "Waits", "explain", "read_waits", "stuck"]

SEND, RECEIVE, EXCHANGE = "send to", "receive from", "receive, in an exchange, from"
_BYTES = 64


@dataclass(frozen=True)
class Wait:
    """What a rank waits for, and the how manieth time it waits. to: where it sends in an exchange."""

    what: str
    other: int
    number: int = 0
    to: int = -1


class Waits:
    """One rank's notes, in a file that outlives it."""

    def __init__(self, folder: Path, rank: int) -> None:
        self._file = os.open(folder / f"wait-{rank}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        self._number = 0

    @contextlib.contextmanager
    def noted(self, what: str, other: int, to: int = -1) -> Iterator[None]:
        """Let the note stand while the body runs; it stays if the process ends there."""
        self._number += 1
        os.pwrite(self._file, f"{what}:{other}:{self._number}:{to}".ljust(_BYTES).encode(), 0)
        yield
        os.pwrite(self._file, b" " * _BYTES, 0)


def read_waits(folder: Path, ranks: Collection[int]) -> dict[int, Wait]:
    """Return what these ranks wait for, of those that have noted it."""
    found = {}
    for rank in ranks:
        file = folder / f"wait-{rank}"
        note = file.read_text().strip() if file.exists() else ""
        if note.count(":") == 3:
            what, *numbers = note.split(":")
            found[rank] = Wait(what, *map(int, numbers))
    return found


def stuck(waits: Mapping[int, Wait], done: Collection[int]) -> dict[int, Wait]:
    """Return the waits that cannot end if they last: for a rank that has returned, or in a circle."""
    circle = _circle(waits)
    return {rank: wait for rank, wait in waits.items() if wait.other in done or rank in circle}


def explain(waits: Mapping[int, Wait]) -> list[str]:
    """Return a sentence a waiting rank, and what keeps them from going on."""
    lines = []
    for rank, wait in sorted(waits.items()):
        sends = f"sends to rank {wait.to} and " if wait.what == EXCHANGE else ""
        lines.append(f"rank {rank} {sends}waits to {wait.what} rank {wait.other}")
    if circle := _circle(waits):
        lines.append("a circle: " + ", ".join(f"{rank} for {waits[rank].other}" for rank in circle))
        kinds = {waits[rank].what for rank in circle}
        if kinds == {SEND}:
            lines.append("let one of them receive first, or use exchange, which sends and receives at once")
        elif kinds == {RECEIVE}:
            lines.append("one of them has to send first")
        elif kinds == {EXCHANGE}:
            lines.append(
                "each waits for a rank that sends to another one: who sends to the right receives from the left"
            )
    return lines


def _circle(waits: Mapping[int, Wait]) -> list[int]:
    """Return ranks of which each waits for the next, and the last for the first; nothing if there are none.

    A rank goes on if the one that it waits for has begun the other half: to send to it, or to receive from it.
    """
    following = {rank: wait.other for rank, wait in waits.items() if not _answered(waits, rank)}
    for start in sorted(following):
        path = [start]
        while (after := following.get(path[-1])) is not None:
            if after == start:
                return path
            if after in path:
                break
            path.append(after)
    return []


def _answered(waits: Mapping[int, Wait], rank: int) -> bool:
    wait = waits[rank]
    other = waits.get(wait.other)
    if other is None:
        return False
    if wait.what == SEND:
        return other.what != SEND and other.other == rank
    sends_to = {SEND: other.other, EXCHANGE: other.to}.get(other.what)
    return sends_to == rank
