"""A lock that threads get in the order in which they asked for it, as they would reach a function in one process."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType

__all__ = ["InTurn"]


class InTurn:
    """As `threading.RLock` in a with block: who has it may take it again. Those who wait get it in their order."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[tuple[int, threading.Lock]] = deque()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._guard:
            if self._owner in {None, me}:
                self._owner, self._depth = me, self._depth + 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append((me, turn))
        try:
            turn.acquire()  # until whoever has it then gives it on
        except BaseException:
            self._give_up(me, turn)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            self._depth -= 1
            if not self._depth:
                self._give_on()

    def _give_on(self) -> None:
        self._owner = None
        if self._waiting:
            self._owner, turn = self._waiting.popleft()
            self._depth = 1
            turn.release()

    def _give_up(self, me: int, turn: threading.Lock) -> None:
        """Leave the queue; who has been given it meanwhile gives it on."""
        with self._guard:
            if (me, turn) in self._waiting:
                self._waiting.remove((me, turn))
            else:
                self._depth = 0
                self._give_on()
