"""Whose turn it is among the runs of one process: most go side by side, some want to be the only one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

__all__ = ["Turns"]


class Turns:
    """A lock that many hold together, or one alone; who waits to be alone goes before those who come later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._beside = 0
        self._alone = 0
        """How many are alone, or wait to be."""
        self._entered = False

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Run beside others that do the same."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._beside += 1
        try:
            yield
        finally:
            with self._changed:
                self._beside -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Run when nobody else does. Never within `beside`: it would wait for itself."""
        with self._changed:
            self._alone += 1
            self._changed.wait_for(lambda: not self._beside and not self._entered)
            self._entered = True
        try:
            yield
        finally:
            with self._changed:
                self._entered = False
                self._alone -= 1
                self._changed.notify_all()
