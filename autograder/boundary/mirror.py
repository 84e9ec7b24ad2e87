"""Lists, arrays and the like that both ends have, kept as one object: what either end writes to its own, both have.

A test that runs apart meets copies. Where that may give more than one process would, it is run once more with this: who
writes to an argument or to an earlier result, or returns its argument in place of a copy, is seen as there. Not seen is
that two values share memory which are not one object.
"""

from __future__ import annotations

import array
import collections
import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.boundary.student_values import changed, snapshot

__all__ = ["Mirror", "update"]

_MOST, _MOST_BYTES = 5_000, 64 << 20
"""So many values are kept as one; those that come later are copies."""
_MOST_LOOKED_AT, _MOST_BYTES_LOOKED_AT = 300, 8 << 20
"""So many, the last ones, are compared with what the other end has, with each message."""
_BYTES_OF_ITEM = 512
"""An item of a list takes as long to compare as so many bytes of an array."""
_TIMES = 8
"""And as much memory as an eighth of that."""


class Mirror:
    """One end's objects, by the places in messages at which both ends know them.

    A place: the question's number, whether the test asked it, whether this came with its answer, and as which value.
    """

    def __init__(self, *, trusted: bool) -> None:
        self._trusted = trusted
        self._at: dict[tuple[Any, ...], Any] = {}
        self._places: dict[int, tuple[Any, ...]] = {}
        self._then: dict[int, tuple[Any, Any]] = {}
        self._left = _MOST_BYTES

    def told(self, codec: Any, number: Any, *, answer: bool) -> dict[str, Any]:
        """Return what goes along with the question of a number, or its answer: what this end has written to."""
        written = [codec.encode(value) for value in self.written()]
        self._note(number, codec.mutable, answer=answer, asked_here=not answer)
        return {"mirrors": True, "written": written}

    def hear(self, message: Mapping[str, Any], codec: Any, number: Any, *, answer: bool) -> None:
        """Bring up to date what the other end has written to, and note what its message held."""
        if message.get("mirrors") is True:
            for value in message.get("written") or ():
                codec.decode(value)
            self._note(number, codec.mutable, answer=answer, asked_here=answer)

    def _note(self, number: Any, values: Sequence[Any], *, answer: bool, asked_here: bool) -> None:
        by_test = asked_here is self._trusted  # each end counts its own questions
        for place, value in enumerate(values):
            self._left -= value.nbytes if hasattr(type(value), "nbytes") else _cost(value) // _TIMES
            if len(self._at) >= _MOST or self._left < 0:
                return
            self._at[number, by_test, answer, place] = value
            self._places.setdefault(id(value), (number, by_test, answer, place))
            self._then.setdefault(id(value), (value, snapshot(value)))

    def place_of(self, value: Any) -> tuple[Any, ...] | None:
        """Return where the other end has this object; None if it has none."""
        return self._places.get(id(value))

    def written(self) -> Iterator[Any]:
        """Yield the objects that the code of this end has written to since they went, came, or were yielded.

        Of the last ones, and as much as can be looked at with each message. One that goes along is looked at anyway.
        """
        left = _MOST_BYTES_LOOKED_AT
        for value, then in [*itertools.islice(reversed(self._then.values()), _MOST_LOOKED_AT)]:
            if (left := left - _cost(value)) < 0:
                return
            if changed(value, then):
                self._then[id(value)] = value, snapshot(value)
                yield value

    def updated(self, place: tuple[Any, ...], value: Any) -> Any:
        """Return the object of this end at a place, as the other end says that it is; the value if there is none."""
        own = self._at.get(place)
        if own is None or own is value or type(own) is not type(value):
            return value
        update(own, value)
        self._then[id(own)] = own, snapshot(own)
        return own


def _cost(value: Any) -> int:
    return int(value.nbytes) if hasattr(type(value), "nbytes") else _BYTES_OF_ITEM * len(value)


def update(own: Any, value: Any) -> None:
    """Bring a list, an array or the like up to date in place; what does not fit leaves it as it is."""
    if type(own) is not type(value):
        return
    if isinstance(own, np.ndarray):
        if own.shape == value.shape and own.dtype == value.dtype:
            with contextlib.suppress(ValueError):  # it may not be written to
                own[...] = value
    elif isinstance(own, collections.UserList | collections.UserDict):
        update(own.data, value.data)
    elif isinstance(own, list | array.array | bytearray):
        own[:] = value
    elif isinstance(own, dict | set):
        own.clear()
        own.update(value)
    elif isinstance(own, collections.deque):
        own.clear()
        own.extend(value)
    elif hasattr(type(own), "copy_") and own.shape == value.shape and own.dtype == value.dtype:
        own.data.copy_(value)
