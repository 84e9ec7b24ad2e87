"""How long cells may run: processor time, whatever else the machine does meanwhile, and the clock for what waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from autograder.model import Limits

__all__ = ["PATIENCE", "Allowance", "Budget", "a_few_times"]

PATIENCE = Limits().patience
"""What is usual: see Limits."""
_LOOK_S = 0.2
_TIMES, _LEAST_S = 3, 10.0
"""How many times as long as the first a second run may take, and how long in any case."""
_STARVED = 0.2
"""Who has used this part of the processor time when the clock stops him did not only wait for something."""
_READY = 0.5
"""Nor did who was on a processor, or ready to be, for this part of the time by the clock."""


@dataclass(frozen=True)
class Allowance:
    """What one cell may use, in seconds: of the processor, beyond what was used before it, and by the clock."""

    computing_s: float
    waiting_s: float
    used_before_s: float


def a_few_times(limits: Limits, computed_s: float, waited_s: float) -> Limits:
    """Return the limits of another run of a notebook that took so long: a few times as much, within these limits."""
    total_s = min(limits.total_time_s, max(_LEAST_S, _TIMES * computed_s))
    clock_s = min(limits.patience * limits.total_time_s, max(_LEAST_S, _TIMES * waited_s))
    cell_s = min(limits.cell_time_s, total_s)
    patience = min(clock_s / cell_s, max(limits.patience, clock_s / total_s))
    return replace(limits, cell_time_s=cell_s, total_time_s=total_s, patience=patience)


class Budget:
    """What is left of the time of one notebook. Processor time is that of all its processes together."""

    def __init__(self, limits: Limits, used_s: Callable[[], float], held_up_s: Callable[[], float] = float) -> None:
        """used_s: returns the processor time that the notebook's processes have used so far, in seconds.

        held_up_s: returns for how long they were ready to run while others had the processors.
        """
        self._limits = limits
        self._used_s = used_s
        self._held_up_s = held_up_s
        self._held_up_before = held_up_s()
        self._began = time.monotonic()
        self._used_before = used_s()
        self.starved = False
        """Whether the clock has stopped what did compute: it may have waited for nothing but a processor."""

    def computed_s(self) -> float:
        """Return the processor time used since it began, in seconds."""
        return self._used_s() - self._used_before

    def waited_s(self) -> float:
        """Return the seconds since it began."""
        return time.monotonic() - self._began

    def allowance(self) -> Allowance | None:
        """Return what the next cell may use; None if nothing is left."""
        total_s = self._limits.total_time_s
        used_s = self._used_s()
        computing_s = total_s - (used_s - self._used_before)
        waiting_s = self._limits.patience * total_s - self.waited_s()
        if computing_s <= 0 or waiting_s <= 0:
            self._note(total_s, total_s - computing_s)
            return None
        cell_s = self._limits.cell_time_s
        clock_s = max(1.0, min(self._limits.patience * cell_s, waiting_s))
        return Allowance(max(1.0, min(cell_s, computing_s)), clock_s, used_s)

    def spent(self) -> str:
        """Say of a notebook for which nothing is left which limit it has reached."""
        total_s = self._limits.total_time_s
        computed = self.computed_s() >= total_s
        return f"{total_s:g} s of computing in all" if computed else f"{self._limits.patience * total_s:g} s in all"

    async def over(self, allowed: Allowance) -> str:
        """Return when a cell that begins now has used up what it may, and say which limit that was."""
        began = time.monotonic()
        pause_s = min(allowed.computing_s, allowed.waiting_s)  # one processor cannot compute for longer than it lasts
        while True:
            await asyncio.sleep(pause_s)
            used_s = self._used_s() - allowed.used_before_s
            if used_s >= allowed.computing_s - _LOOK_S:
                return f"{allowed.computing_s:g} s of computing"
            left_s = allowed.waiting_s - (time.monotonic() - began)
            if left_s <= 0:
                self._note(allowed.computing_s, used_s)
                return f"{allowed.waiting_s:g} s"
            pause_s = min(_LOOK_S, left_s)

    def _note(self, allowed_s: float, used_s: float) -> None:
        """Note what was stopped with this much of its processor time used."""
        ready_s = used_s + self._held_up_s() - self._held_up_before
        computed = used_s >= _STARVED * allowed_s or ready_s >= _READY * self._limits.patience * allowed_s
        self.starved = self.starved or (used_s < allowed_s and computed)
