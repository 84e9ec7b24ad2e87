"""What became of one submission before it is stored, and whether it is to be tried once more."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import nbformat

from autograder.execution import Execution
from autograder.model import CellScore, CellSpec, Status
from autograder.submission.handin import Handin
from labkit._launch.errors import STILL_RUNNING
from labkit._system import busy

__all__ = ["BUSY", "SHARED", "Attempt", "used_up"]

BUSY = "run once more, alone: the machine was busy when its time was over"
SHARED = "run once more, alone: something that the programs of one user share was used up"

_SHARED = {errno.ENOSPC, errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.ETOOMANYREFS}
"""Errors that say that something is used up which programs of one user, or of one machine, share."""
_USED_UP = (*map(os.strerror, (errno.ENOSPC, errno.EAGAIN, errno.ETOOMANYREFS)), "can't start new thread")
"""What a student's code says where another's program had used that up, or it itself had."""


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
    forged: bool = False
    """A result was forged: what was caught is not tried once more."""
    seconds: float = 0.0
    sandbox: str = ""
    isolated: bool = False
    failure: str = ""
    """Why the grader could not do it."""
    tossed: bool = False
    """Some tests ran in the student's kernel, where a guess may win: no words of the student's order another one."""
    hindered: bool = False
    """The grader itself met the end of what it shares with the programs of others."""
    starved: bool = False
    """Something was stopped by the clock though it computed."""
    crowded: str = ""
    """Why it is to be run once more, alone: the machine was busy, or another's program was in the way."""

    def note(self, execution: Execution) -> None:
        """Take over what the run of one notebook has to say."""
        self.messages += [*execution.forged, *execution.problems]
        self.forged = self.forged or bool(execution.forged)
        self.tampered = self.tampered or self.forged
        self.complete = self.complete and execution.complete
        self.starved = self.starved or execution.starved

    def ended(self, seconds: float) -> None:
        """Note how long it took, and whether it is to be run once more. To be called while the machine is as it was."""
        self.seconds = seconds
        if self.forged:
            return
        if self.hindered or (not self.tossed and self._said(*_USED_UP)):
            self.crowded = SHARED
        elif busy() and (self.starved or self._said(STILL_RUNNING)):  # ranks are stopped by the clock
            self.crowded = BUSY

    def _said(self, *words: str) -> bool:
        """Whether a case, a test or the grader itself failed with some of these words."""
        said = [self.failure, *(cell.message for cell in self.cells)]
        said += [str(case["message"]) for cell in self.cells for case in cell.cases]
        return any(some in text for text in said for some in words)

    def worthless(self, rows: Mapping[str, Sequence[CellSpec]]) -> list[str]:
        """Return which cells, of these of each notebook, a person would grade and need not, by notebook/grade_id.

        They earn nothing. So may tests, whose points nbgrader has from their outputs.
        """
        by_hand = {(name, row.grade_id) for name, cells in rows.items() for row in cells if not row.automatic}
        found = [cell for cell in self.cells if cell.points == 0 and (cell.notebook, cell.grade_id) in by_hand]
        return [f"{cell.notebook}/{cell.grade_id}" for cell in found]

    def waiting(self, rows: Mapping[str, Sequence[CellSpec]]) -> list[str]:
        """Return the tasks, of these cells of each notebook, that a person has to grade, by notebook/grade_id."""
        tasks = {(name, row.grade_id) for name, cells in rows.items() for row in cells if row.task}
        waiting = [cell for cell in self.cells if cell.points is None and (cell.notebook, cell.grade_id) in tasks]
        return [f"{cell.notebook}/{cell.grade_id}" for cell in waiting]

    @property
    def status(self) -> Status:
        if self.unreadable:
            return Status.UNREADABLE
        if not self.complete:
            return Status.PARTLY_GRADED
        return Status.TAMPERED if self.tampered else Status.GRADED


def used_up(error: BaseException | None) -> bool:
    """Whether an error, or what it came of, says that something shared is used up."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _SHARED:
            return True
        error = error.__cause__ or error.__context__
    return False
