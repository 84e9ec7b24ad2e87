"""The student's end of what went with questions and came with answers: it remembers the objects, for a while.

See `exchanges` for the other end.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.boundary.student_values import changed, snapshot

__all__ = ["Last", "Remembered"]

_MOST = 20_000
"""So many questions are remembered, the last ones; and what takes so many bytes."""
_MOST_BYTES = 64 << 20
_MOST_HIDDEN = 256 << 20
"""Bytes of arrays that are kept alive by views of them, each array once."""
_MOST_LOOKED_AT = 300
_MOST_BYTES_LOOKED_AT = 8 << 20
"""So many results, the last ones, are compared with what went out, each time that something does.

One that takes more bytes is not followed.
"""
_MOST_CARRIED = 32 << 20
"""Bytes of arguments, and of how they looked, that are kept for the tests below."""
_BYTES_OF_ITEM = 512
"""An item of a list takes as long as so many bytes of an array."""
_UNSEEN = object()
"""Stands for what went out of a value that is not followed."""


class Last:
    """What belongs to the last questions, by number: so many of them, and so many bytes."""

    def __init__(self, dropped: Callable[[Any], None] = lambda _: None) -> None:
        """dropped: called with what is forgotten, or replaced."""
        self._dropped = dropped
        self._entries: collections.OrderedDict[int | str, tuple[Any, int]] = collections.OrderedDict()
        self.bytes = 0

    def put(self, number: int | str, entry: Any, size: int) -> None:
        """Keep what belongs to a question."""
        self.drop(number)
        self._entries[number] = entry, size
        self.bytes += size
        while len(self._entries) > _MOST or self.bytes > _MOST_BYTES:
            self.drop(next(iter(self._entries)))

    def get(self, number: int | str) -> Any:
        """Return it; None if there is none, or none any more."""
        return self._entries.get(number, (None,))[0]

    def drop(self, number: int | str) -> None:
        """Forget it, if it is there."""
        if number in self._entries:
            entry, size = self._entries.pop(number)
            self.bytes -= size
            self._dropped(entry)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return ((number, entry) for number, (entry, _) in self._entries.items())

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        return ((number, entry) for number, (entry, _) in reversed(self._entries.items()))


@dataclass
class _Exchange:
    """What went with a question and came with its answer. asked: the size of the question.

    seen: of each result, how it looked then; left: of each argument, how the answer has left it. wholes: what results
    keep alive.
    """

    arguments: list[Any]
    results: list[Any]
    asked: int
    seen: list[Any]
    left: list[Any]
    wholes: list[tuple[int, int]]


class Remembered:
    """The student's end: lists, arrays and the like of the last questions and answers."""

    def __init__(self, earlier: list[tuple[Any, Any]] | None = None) -> None:
        """earlier: what went along with questions of tests before, as they left it; see carried."""
        self._earlier = earlier or []
        self.kept = Last(self._release)
        self._wholes: dict[int, tuple[int, int]] = {}
        """How often an array is kept alive by views, and how large it is."""
        self.hidden = 0

    def note(
        self,
        number: Any,
        arguments: list[Any],
        results: list[Any],
        asked: int,
        answered: int,
        looked: list[Any] | None = None,
    ) -> None:
        """Keep what went along with a question and its answer. asked, answered: the sizes of these messages.

        looked: snapshots of the arguments, if they are as these were.
        """
        if type(number) is int and (arguments or results):
            wholes = [whole for value in results if (whole := _kept_alive(value))]
            for key, size in wholes:
                uses, known = self._wholes.get(key, (0, size))
                self._wholes[key] = uses + 1, known
                self.hidden += 0 if uses else size
            left = [*map(_left, arguments, looked or [None] * len(arguments))]
            seen = [*map(_look, results)]
            found = _Exchange(arguments, results, asked, seen, left, wholes)
            self.kept.put(number, found, asked + _size_of(left) + 2 * answered)
            while self.hidden > _MOST_HIDDEN:
                self.kept.drop(next(iter(self.kept))[0])

    def given(self, number: int, values: list[Any], size: int) -> None:
        """Keep what came with the answer to a question of this end: the test's own, by a number that is a text."""
        if values:
            self.kept.put(f"given {number}", _Exchange([], values, 0, [*map(_look, values)], [], []), 2 * size)

    def rewritten(self) -> Iterator[tuple[int | str, int]]:
        """Yield number and place of each result that is other than when it went out, the latest first, and once.

        And of what was given.
        """
        left = _MOST_BYTES_LOOKED_AT
        for number, exchange, place in itertools.islice(self._followed(), _MOST_LOOKED_AT):
            value = exchange.results[place]
            if (left := left - _cost(value)) < 0:
                return
            if changed(value, exchange.seen[place]):
                exchange.seen[place] = _UNSEEN
                yield number, place

    def _followed(self) -> Iterator[tuple[int | str, _Exchange, int]]:
        for number, exchange in reversed(self.kept):
            yield from ((number, exchange, place) for place, seen in enumerate(exchange.seen) if seen is not _UNSEEN)

    def _release(self, entry: _Exchange) -> None:
        for key, _ in entry.wholes:
            uses, size = self._wholes.pop(key)
            if uses > 1:
                self._wholes[key] = uses - 1, size
            else:
                self.hidden -= size

    def forget(self, numbers: Any) -> None:
        """Forget the results of these questions: the test has them no more. Who resizes an array must own it alone."""
        for number in numbers or ():
            if exchange := self.kept.get(number):
                self.kept.drop(number)
                if exchange.arguments:
                    kept = _Exchange(exchange.arguments, [], exchange.asked, [], exchange.left, [])
                    self.kept.put(number, kept, exchange.asked + _size_of(exchange.left))

    def altered(self, earlier: bool = False) -> list[tuple[int | str, int]]:
        """Return number and place of each argument that is other than the answer to its question has left it.

        An object may keep one, and change it when something else is asked of it; a generator, when it goes on.
        earlier: also of tests before, whose number is a text.
        """
        found: list[tuple[int | str, int]] = [
            (number, place) for number, place, value, left in self._arguments() if changed(value, left)
        ]
        before = enumerate(self._earlier if earlier else ())
        return found + [("earlier", place) for place, (value, left) in before if changed(value, left)]

    def carried(self) -> list[tuple[Any, Any]]:
        """Return the last arguments, and how they were left: an object may keep one for the tests below."""
        found: list[tuple[Any, Any]] = []
        every, left_bytes = [*self._earlier, *((one, left) for _, _, one, left in self._arguments())], _MOST_CARRIED
        for value, left in itertools.islice(reversed(every), _MOST_LOOKED_AT):
            if (left_bytes := left_bytes - 2 * _cost(value)) < 0:
                break
            found.insert(0, (value, left))
        return found

    def _arguments(self) -> Iterator[tuple[int, int, Any, Any]]:
        for number, exchange in self.kept:
            for place, (value, left) in enumerate(zip(exchange.arguments, exchange.left, strict=True)):
                if left is not _UNSEEN:
                    yield number, place, value, left

    def current(self, places: Iterable[tuple[int, bool, int]]) -> list[Any]:
        """Return what lies at these places, as it is now, each in a list; an empty list for what is forgotten."""
        return [self._at(*place) for place in places]

    def common(self, here: list[Any], objects: list[Any], there: list[Any], others: list[Any]) -> bool:
        """Whether of the one value, what lies at places or is an object, has an object or memory of the other value."""
        from labkit._memory import common

        return common(_opened([self.current(here), objects]), _opened([self.current(there), others]))

    def _at(self, number: int, came: bool, place: int) -> list[Any]:
        exchange = self.kept.get(number)
        return (exchange.results if came else exchange.arguments)[place : place + 1] if exchange else []


def _cost(value: Any) -> int:
    """Return what it takes to compare a value, in bytes of an array."""
    if type(value) is np.ndarray or hasattr(type(value), "untyped_storage"):
        return int(getattr(value, "nbytes", 0))
    return _BYTES_OF_ITEM * len(value) if hasattr(type(value), "__len__") else 0


def _look(value: Any, known: Any = None) -> Any:
    """Return what `changed` compares a value with; nothing for a large one, which costs as much at each question."""
    if _cost(value) > _MOST_BYTES_LOOKED_AT:
        return _UNSEEN
    return snapshot(value) if known is None else known


def _left(value: Any, known: Any) -> Any:
    """Return how an argument looks; nothing of a tensor that asks for its gradient: what a test writes to it goes over.

    known: a snapshot of it, if it is as it was then.
    """
    return _UNSEEN if getattr(value, "requires_grad", False) else _look(value, known)


def _size_of(seen: list[Any]) -> int:
    """Return about how many bytes it takes to know how values looked: those of arrays, and references to items."""
    arrays = [part for one in seen if type(one) is tuple for part in one if type(part) is bytes]
    items = [one for one in seen if type(one) in {bytes, list, set}]
    return sum(map(len, arrays)) + sum(len(one) * (1 if type(one) is bytes else 8) for one in items)


def _opened(value: Any) -> Any:
    """Return a value in which what keeps its items in `data` is followed by these."""
    if type(value) is list:
        return [_opened(item) for item in value]
    return [value, value.data] if isinstance(value, collections.UserList | collections.UserDict) else value


def _kept_alive(value: Any) -> tuple[int, int] | None:
    """Return a number for the memory that a view of an array keeps alive, or a tensor, and its bytes; else None."""
    if type(value) is np.ndarray:
        whole = value
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        return None if whole is value else (id(whole), whole.nbytes)
    try:
        storage = value.untyped_storage() if hasattr(type(value), "untyped_storage") else None
        return (int(storage.data_ptr()), int(storage.nbytes())) if storage is not None else None
    except Exception:  # one without memory of its own
        return None
