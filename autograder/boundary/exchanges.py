"""What went with each question and came with its answer, as both ends know it: by number of the question and place.

A value that comes is a copy. What has become of the student's own since, and whether it is one with an argument, only
the student's process can look up: its end remembers the objects, for a while, and the trusted end their numbers.
"""

from __future__ import annotations

import array
import collections
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.boundary.handles import is_stand_in
from autograder.boundary.student_values import snapshot

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = ["Heard", "Remembered", "alike"]

_MOST = 20_000
"""So many questions and values are remembered, the last ones; and arrays and tensors of so many bytes."""
_MOST_BYTES = 64 << 20
_CONTAINERS = (list, dict, set, collections.deque, bytearray, array.array)
_ITEM_BYTES = 64
"""What an item of a list, dictionary or set counts for."""


class Remembered:
    """The student's end: lists, arrays and the like of the last questions and answers."""

    def __init__(self) -> None:
        self._kept: collections.OrderedDict[int, tuple[list[Any], list[Any]]] = collections.OrderedDict()
        self._uses: dict[int, tuple[int, int]] = {}
        """How often an object is kept that holds memory, and how much: a view keeps the whole array alive."""
        self._bytes = 0

    def note(self, number: Any, arguments: list[Any], results: list[Any]) -> None:
        """Keep what went along with a question and its answer."""
        if type(number) is not int or not (arguments or results):
            return
        self._kept[number] = [*arguments], [*results]
        self._count(self._kept[number], 1)
        while len(self._kept) > _MOST or self._bytes > _MOST_BYTES:
            self._count(self._kept.popitem(last=False)[1], -1)

    def current(self, places: Iterable[tuple[int, bool, int]]) -> list[Any]:
        """Return what lies at these places, as it is now, each in a list; an empty list for what is forgotten."""
        return [self._at(*place) for place in places]

    def common(self, one: Iterable[tuple[int, bool, int]], other: Iterable[tuple[int, bool, int]]) -> bool:
        """Whether what lies at the first places has an object or memory in common with what lies at the others."""
        from labkit._memory import common

        return common(self.current(one), self.current(other))

    def _at(self, number: int, came: bool, place: int) -> list[Any]:
        arguments, results = self._kept.get(number, ([], []))
        return (results if came else arguments)[place : place + 1]

    def _count(self, kept: tuple[list[Any], list[Any]], by: int) -> None:
        for value in (*kept[0], *kept[1]):
            holder, size = _memory_of(value)
            uses, size = self._uses.get(id(holder), (0, size))  # as large as it was when it came to be kept
            if uses == max(-by, 0):  # the first use of it, or the last
                self._bytes += by * size
            self._uses[id(holder)] = uses + by, size
            if not uses + by:
                del self._uses[id(holder)]


@dataclass
class _Came:
    """A value of an answer: whose, of which question, at what place, and how often its owner was asked until then."""

    peer: Peer
    value: Any
    place: tuple[int, bool, int]
    turn: int


class Heard:
    """The trusted end: which values came with which answer, and went with which question."""

    def __init__(self, peer: Peer | None) -> None:
        """peer: to whose process questions go; what other processes answer is not remembered there."""
        self._peer = peer
        self._came: collections.OrderedDict[int, _Came] = collections.OrderedDict()
        self._sent: dict[int, tuple[Any, list[tuple[int, bool, int]]]] = {}

    def sent(self, peer: Peer, number: int, mutable: list[Any]) -> None:
        """Note what went along with a question."""
        if peer is self._peer and len(self._sent) < _MOST:
            for place, value in enumerate(mutable):
                self._sent.setdefault(id(value), (value, []))[1].append((number, False, place))

    def came(self, peer: Peer, number: int, mutable: list[Any]) -> None:
        """Note what came with its answer."""
        if peer is self._peer:
            for place, value in enumerate(mutable):
                self._came[id(value)] = _Came(peer, value, (number, True, place), peer.turn)
            while len(self._came) > _MOST:
                self._came.popitem(last=False)

    def now(self, value: Any) -> Any:
        """Return the value with each part that came as it is now; the value itself if nothing has run since."""
        known = self._old(value)
        if not known or self._peer is None:
            return value
        found = self._peer.ask("current", None, [[came.place for came in known]])
        if type(found) is not list or len(found) != len(known):
            return value
        fresh = {id(came.value): now[0] for came, now in zip(known, found, strict=True) if type(now) is list and now}
        return _with(value, fresh)

    def may_have_changed(self, value: Any) -> bool:
        """Whether a part of this came before something else was asked for that may have changed it."""
        return bool(self._old(value))

    def common(self, one: Any, other: Any) -> bool:
        """Whether, says the student's process, its own of the one has memory in common with its own of the other."""
        mine = [self._came[id(part)].place for part in self._outermost(one)]
        theirs = [place for part in _within(other) for place in self._places(part)]
        return bool(mine and theirs and self._peer and self._peer.ask("common", None, [mine, theirs]) is True)

    def _old(self, value: Any) -> list[_Came]:
        return [came for part in self._outermost(value) if (came := self._came[id(part)]).turn < came.peer.turn]

    def _places(self, part: Any) -> list[tuple[int, bool, int]]:
        came, (_, sent) = self._came.get(id(part)), self._sent.get(id(part), (None, []))
        return [*sent, *([came.place] if came else [])]

    def _outermost(self, value: Any) -> Iterator[Any]:
        if id(value) in self._came:
            yield value
        else:
            for item in _items(value):
                yield from self._outermost(item)


def alike(one: Any, other: Any) -> bool:
    """Whether two values that came are the same, down to the bytes of arrays; no method of an object is asked."""
    if type(one) is not type(other):
        return False
    if one is other or is_stand_in(one) or is_stand_in(other):
        return one is other
    if isinstance(one, dict):
        return alike([*one.items()], [*other.items()])
    if isinstance(one, np.ndarray) and one.dtype.hasobject:
        return one.shape == other.shape and all(map(alike, one.flat, other.flat))
    if isinstance(one, list | tuple | collections.deque | collections.UserList):
        return len(one) == len(other) and all(map(alike, one, other))
    before = snapshot(one)
    return bool(before == snapshot(other)) if before is not None else repr(one) == repr(other)


def _with(value: Any, fresh: dict[int, Any]) -> Any:
    """Return a value in which what is fresh stands in place of what it is the same as."""
    if id(value) in fresh:
        return fresh[id(value)]
    if type(value) is dict:
        return {key: _with(item, fresh) for key, item in value.items()}
    return type(value)(_with(item, fresh) for item in value) if type(value) in {list, tuple} else value


def _items(value: Any) -> list[Any]:
    if type(value) is dict:
        return [*value.values()]
    return [*value] if type(value) in {list, tuple} else []


def _within(value: Any) -> list[Any]:
    """Return a value and all that its lists, tuples and dictionaries contain."""
    return [value, *(part for item in _items(value) for part in _within(item))]


def _memory_of(value: Any) -> tuple[Any, int]:
    """Return what keeps the memory of a value, and how many bytes that are."""
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    if isinstance(value, np.ndarray):
        return value, value.nbytes
    try:
        return value, _ITEM_BYTES * len(value) if isinstance(value, _CONTAINERS) else value.untyped_storage().nbytes()
    except Exception:  # no tensor, or one without memory of its own
        return value, 0
