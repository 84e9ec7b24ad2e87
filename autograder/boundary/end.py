"""When a test cell's time is over: the grader says it, and a test that does not listen is told again and again."""

from __future__ import annotations

import contextlib
import signal
import time
import types
from collections.abc import Callable, Iterator

from autograder.boundary.frames import Connection, TimeLimit
from autograder.boundary.peer import Peer

__all__ = ["End", "stopped"]

_AGAIN_S = 0.25
"""How long a test that swallows the end of its time goes on until it comes again."""
_LATER_S = 0.05
"""So much later than a wait for an answer it ends a test that waits for none: what has come is not torn."""


def stopped(control: Connection, cell: int) -> str:
    """Return what the grader has said of a running cell: which limit it has reached; nothing if none."""
    while control.ready():
        order, _ = control.receive()
        if order.get("stop") == cell:
            return str(order["why"])
    return ""


class End:
    """The end of a test cell's time, which the grader says: it sees what all processes of the submission use."""

    def __init__(
        self, cell: int, computing_s: float, waiting_s: float, stopped: Callable[[], str] = lambda: ""
    ) -> None:
        """computing_s: the grader does not say it sooner. waiting_s: it will have said it by then.

        stopped: returns which limit the grader says the cell has reached; nothing while it may run.
        """
        self.cell = cell
        self._stopped = stopped
        self._first_s = min(computing_s, waiting_s) + _LATER_S
        self._deadline = time.monotonic() + waiting_s + _AGAIN_S
        self._why = ""

    def came(self) -> bool:
        """Whether the time is over."""
        if not self._why and (limit := self._stopped()):
            self._why = f"stopped after {limit}"
        if not self._why and time.monotonic() >= self._deadline:
            self._why = "its time is over"
        return bool(self._why)

    @contextlib.contextmanager
    def awaited(self, peer: Peer) -> Iterator[None]:
        """Raise TimeLimit when the time is over, and again and again should the cell swallow it."""

        def look(_signal: int, _frame: types.FrameType | None) -> None:
            if self.came():
                raise TimeLimit(self._why)

        peer.deadline = self._deadline
        before = signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, self._first_s, _AGAIN_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
