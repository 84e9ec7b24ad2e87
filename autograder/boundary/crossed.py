"""What a test writes to after it has crossed the boundary: apart it is a copy, in one process it may be one object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.boundary.student_values import changed, snapshot

__all__ = ["Crossed"]

_MAX_ITEMS = 1_000_000
_MAX_BYTES = 64 << 20


class Crossed:
    """Lists, arrays and the like that went to the student's code, or came from it, as they were then.

    A function that should return a copy, and returns its argument, is found by a test that writes to the one and looks
    at the other. Apart from the student's code they are always two.
    """

    def __init__(self) -> None:
        self._then: dict[int, tuple[Any, Any]] = {}
        self._items, self._bytes = _MAX_ITEMS, _MAX_BYTES
        self._written = False
        """Whether one that is there no more looked different then."""

    def note(self, values: Iterable[Any]) -> None:
        """Keep how these look, if they can be written to, and have not crossed before."""
        for value in values:
            if id(value) not in self._then and self._fits(value):
                self._then[id(value)] = value, snapshot(value)

    def written(self) -> bool:
        """Whether one of them looks different now, or did when it was dropped."""
        return self._written or any(changed(value, then) for value, then in self._then.values())

    def holds(self, value: Any) -> bool:
        """Whether this one is kept here."""
        return id(value) in self._then

    def drop(self, value: Any) -> None:
        """Keep it no longer: the test has it no more."""
        if (known := self._then.pop(id(value), None)) is not None:
            self._written = self._written or changed(*known)

    def was_written(self, value: Any) -> bool:
        """Whether this one looks different now."""
        known = self._then.get(id(value))
        return known is not None and changed(*known)

    def _fits(self, value: Any) -> bool:
        if (flags := getattr(value, "flags", None)) is not None:
            if not flags.writeable:
                return False
            self._bytes -= value.nbytes
        elif hasattr(value, "__len__") and not hasattr(value, "_version"):
            self._items -= len(value)
        return self._bytes >= 0 <= self._items
