"""What containers of the other end's have said of their lengths: answers that contradict each other are none."""

from __future__ import annotations

__all__ = ["Lengths"]


class Lengths:
    """Of each object, by its handle, how many items it has said that it has, or has had."""

    def __init__(self) -> None:
        self._known: dict[int | None, tuple[int, int]] = {}

    def note(self, handle: int | None, length: int, asked: int) -> None:
        """Keep what one has said, as the answer to a question of this number.

        Raises ValueError if it has said something else to the question before: nothing was done to it.
        """
        before, at = self._known.get(handle, (length, asked))
        self._known[handle] = length, asked
        if before != length and at == asked - 1:
            raise ValueError(f"its length was {before}, and is {length} now, though nothing was done to it")

    def of(self, handle: int | None) -> int | None:
        """Return what one has said last; None if it has said nothing since something may have changed it."""
        return self._known.get(handle, (None, 0))[0]

    def clear(self) -> None:
        """Forget what all have said."""
        self._known.clear()
