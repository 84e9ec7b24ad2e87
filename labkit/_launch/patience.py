"""How long ranks may take: the time that they wait for a processor, on a busy machine, is not theirs."""

from __future__ import annotations

import time
from pathlib import Path

from labkit import _system

__all__ = ["MOST", "Patience", "present"]

MOST = 4
"""So many times its limit a launch lasts at most by the clock."""
_NAME = "process-{}"


def present(folder: Path, rank: int, process: int) -> None:
    """Note which process a rank is, for whoever measures its time."""
    (folder / _NAME.format(rank)).write_text(str(process), encoding="ascii")


class Patience:
    """Counts the seconds of a launch, without those in which the kernel let a rank wait for a processor."""

    def __init__(self, folder: Path, ranks: int, seconds: float) -> None:
        """folder: where the ranks have noted who they are. seconds: how long they may take."""
        self._notes = [folder / _NAME.format(rank) for rank in range(ranks)]
        self._seconds = seconds
        self._begun = time.monotonic()
        self._held_up = 0.0

    def left(self) -> float:
        """Return how many seconds are left; 0 or less: none."""
        by_the_clock = time.monotonic() - self._begun
        self._held_up = max(self._held_up, *map(_held_up, self._notes))
        return self._seconds - by_the_clock + min(self._held_up, (MOST - 1) * self._seconds)


def _held_up(note: Path) -> float:
    """Return how long the process that a note names has been ready to run, and did not."""
    process = note.read_text(encoding="ascii") if note.is_file() else ""
    return _system.held_up(int(process)) if process.isdigit() else 0.0
