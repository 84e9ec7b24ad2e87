"""What became of one submission before it is stored, and whether it is to be tried once more."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field

import nbformat

from autograder.execution import Execution
from autograder.model import CellScore, Status
from autograder.submission.handin import Handin
from labkit._launch.errors import STILL_RUNNING

__all__ = ["Attempt"]

_FULL = os.strerror(errno.ETOOMANYREFS)
"""What a launch says where another's program had used up what all of this user may send each other."""


@dataclass
class Attempt:
    """What became of one submission before it is stored."""

    handin: Handin
    notebooks: dict[str, nbformat.NotebookNode] = field(default_factory=dict)
    cells: list[CellScore] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What only who grades may read: see second_look."""
    unreadable: bool = False
    complete: bool = True
    tampered: bool = False
    seconds: float = 0.0
    sandbox: str = ""
    isolated: bool = False
    failure: str = ""
    """Why the grader could not do it."""
    starved: bool = False
    """Something was stopped by the clock though it computed."""
    crowded: bool = False
    """It is to be run once more, alone: the machine was busy, or another's program was in the way."""

    def note(self, execution: Execution) -> None:
        """Take over what the run of one notebook has to say."""
        self.messages += [*execution.forged, *execution.problems]
        self.tampered = self.tampered or bool(execution.forged)
        self.complete = self.complete and execution.complete
        self.starved = self.starved or execution.starved

    def ended(self, seconds: float) -> None:
        """Note how long it took, and whether it is to be run once more. To be called while the machine is as it was."""
        self.seconds = seconds
        busy = os.getloadavg()[0] > len(os.sched_getaffinity(0))
        self.crowded = self._said(_FULL) or (busy and (self.starved or self._said(STILL_RUNNING)))

    def _said(self, words: str) -> bool:
        """Whether a case, a test or the grader itself failed with these words; ranks are stopped by the clock."""
        return any(words in text for text in (self.failure, *(f"{c.message}{c.cases}" for c in self.cells)))

    @property
    def status(self) -> Status:
        if self.unreadable:
            return Status.UNREADABLE
        if not self.complete:
            return Status.PARTLY_GRADED
        return Status.TAMPERED if self.tampered else Status.GRADED
