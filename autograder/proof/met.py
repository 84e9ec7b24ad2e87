"""What faults of a function have met, noted where ranks can note it: they are forks, and run what they are sent."""

from __future__ import annotations

import mmap

__all__ = ["met"]

_EVENTS = ("seen", "touched")


class _Met:
    """Which of the events have happened, in this process or in a fork of it."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, len(_EVENTS))

    def __reduce__(self) -> str:
        return "met"  # by its name: what is sent to a rank finds the page that the rank has from here

    def add(self, event: str, happened: bool = True) -> None:
        """Note that something has happened."""
        if happened:
            self._page[_EVENTS.index(event)] = 1

    def has(self, event: str) -> bool:
        """Whether it has."""
        return bool(self._page[_EVENTS.index(event)])

    def clear(self) -> None:
        """Begin again."""
        self._page[:] = bytes(len(_EVENTS))


met = _Met()
