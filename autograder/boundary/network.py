"""The links between ranks that are threads of the trusted process: they carry messages and see a deadlock."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from labkit._launch.deadlock import EXCHANGE, RECEIVE, SEND, Wait
from labkit._launch.patience import MOST
from labkit._system import busy

__all__ = ["LinkDown", "Network"]

_LOOK_S = 0.5


class LinkDown(BaseException):
    """The launch is over for this rank: another has failed, or its time is up. No Exception: no rank goes on."""


@dataclass
class _Step:
    """What a rank has begun: its message, to whom, from whom; which half is done."""

    array: np.ndarray | None
    to: int | None
    source: int | None
    came: np.ndarray | None = None
    sent: bool = False
    received: bool = False

    @property
    def done(self) -> bool:
        return (self.to is None or self.sent) and (self.source is None or self.received)

    def wait(self) -> Wait:
        """Return what it still waits for."""
        if self.source is not None and not self.received:
            return Wait(RECEIVE if self.to is None else EXCHANGE, self.source, to=-1 if self.to is None else self.to)
        return Wait(SEND, -1 if self.to is None else self.to)


class Network:
    """Links between `size` ranks. A send ends when the other rank has begun to receive, as with labkit.Communicator."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._moved = threading.Condition(self._lock)
        self._done = [threading.Condition(self._lock) for _ in range(size)]  # one each: a step wakes nobody else
        self._steps: dict[int, _Step] = {}
        self._begun: set[int] = set()
        self._ended: set[int] = set()
        self.down = self._failed = False

    def carry(self, rank: int, array: np.ndarray | None, to: int | None, source: int | None) -> np.ndarray | None:
        """Do one step of a rank and return what came; see labkit's Carry. Raises LinkDown when the launch is over."""
        with self._lock:
            step = self._steps[rank] = _Step(None if array is None else array.copy(), to, source)
            self._match(rank, step)
            if self._running == len(self._waits()):
                self._moved.notify_all()
            while not step.done and not self.down:
                self._done[rank].wait()
            if self.down:
                raise LinkDown
            del self._steps[rank]
            return step.came

    def _match(self, rank: int, step: _Step) -> None:
        """Let what has been begun on both ends of a link pass over it."""
        for number, other in self._steps.items():
            for (a, sends), (b, takes) in (((rank, step), (number, other)), ((number, other), (rank, step))):
                if sends.to == b and takes.source == a and not sends.sent and not takes.received:
                    takes.came = sends.array
                    sends.sent = takes.received = True
            if number != rank and other.done:
                self._done[number].notify()

    def end(self, rank: int, *, failed: bool = False) -> None:
        """A rank takes no more steps; failed: the others need not go on."""
        with self._moved:
            self._ended.add(rank)
            self._failed = self._failed or failed
            self._moved.notify_all()

    def shut(self) -> None:
        """Let every rank that waits, or will, raise LinkDown."""
        with self._moved:
            self.down = True
            for condition in (self._moved, *self._done):
                condition.notify_all()

    def begin(self, rank: int) -> None:
        """A rank is there."""
        with self._moved:
            self._begun.add(rank)
            self._moved.notify_all()

    def ended(self, timeout_s: float) -> bool:
        """Wait until all ranks have ended; return False if one fails, none can go on, or they run for too long.

        That is timeout_s by the clock, which cannot tell who computes from who waits for a processor: on a busy
        machine as many times that as `launch` itself would wait.
        """
        with self._moved:
            while len(self._begun | self._ended) < self._size and not self._failed and not self.down:
                self._moved.wait()
            begun = time.monotonic()
            while self._running and not self._failed and not self.down and self._running > len(self._waits()):
                taken = time.monotonic() - begun
                if taken >= (MOST * timeout_s if busy() else timeout_s):
                    break
                self._moved.wait(min(_LOOK_S, max(0.0, timeout_s - taken) or _LOOK_S))
            return not self._running and not self._failed

    @property
    def stuck(self) -> bool:
        """Whether all ranks that have not ended wait for each other."""
        with self._lock:
            return 0 < self._running == len(self._waits())

    @property
    def _running(self) -> int:
        return self._size - len(self._ended)

    def waits(self) -> dict[int, Wait]:
        """Return what the ranks wait for that wait."""
        with self._lock:
            return {rank: step.wait() for rank, step in self._waits().items()}

    def _waits(self) -> dict[int, _Step]:
        return {rank: step for rank, step in self._steps.items() if not step.done and rank not in self._ended}

    def done(self) -> list[int]:
        """Return the ranks that have ended."""
        with self._lock:
            return sorted(self._ended)
