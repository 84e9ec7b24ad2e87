"""What went with each question and came with its answer, as both ends know it: by number of the question and place.

A value that comes is a copy. What has become of the student's own since, and whether it is one with an argument, only
the student's process can look up: its end remembers the objects, for a while, and the trusted end their numbers.
"""

from __future__ import annotations

import array
import collections
import functools
import weakref
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
_MOST_PLACES = 100
"""So often at most it is noted that the same value went along."""
_CONTAINERS = (list, dict, set, collections.deque, bytearray, array.array)
_ITEM_BYTES = 64
"""What an item of a list, dictionary or set counts for."""


class _Last:
    """Entries by key, the last ones: so many, and so many bytes of what their values keep in memory."""

    def __init__(self) -> None:
        self._entries: collections.OrderedDict[int, tuple[Any, list[tuple[int, int]]]] = collections.OrderedDict()
        self._uses: dict[int, int] = {}
        """How many values keep the same memory, which counts once: a view keeps a whole array alive."""
        self.bytes = 0

    def put(self, key: int, entry: Any, values: Iterable[Any]) -> None:
        """Keep an entry; what its values keep is looked up now, for a list may grow."""
        self.drop(key)
        memory = [_memory_of(value) for value in values]
        self._entries[key] = entry, memory
        for holder, size in memory:
            self._uses[holder] = self._uses.get(holder, 0) + 1
            self.bytes += size if self._uses[holder] == 1 else 0
        while self._entries and (len(self._entries) > _MOST or self.bytes > _MOST_BYTES):
            self.drop(next(iter(self._entries)))

    def get(self, key: int) -> Any:
        """Return the entry of this key; None if there is none, or none any more."""
        return self._entries.get(key, (None,))[0]

    def drop(self, key: int) -> None:
        """Forget the entry of this key, if there is one."""
        for holder, size in self._entries.pop(key, (None, []))[1]:
            self._uses[holder] -= 1
            if not self._uses[holder]:
                del self._uses[holder]
                self.bytes -= size


class Remembered:
    """The student's end: lists, arrays and the like of the last questions and answers."""

    def __init__(self) -> None:
        self.kept = _Last()

    def note(self, number: Any, arguments: list[Any], results: list[Any]) -> None:
        """Keep what went along with a question and its answer."""
        if type(number) is int and (arguments or results):
            self.kept.put(number, ([*arguments], [*results]), (*arguments, *results))

    def forget(self, numbers: Any) -> None:
        """Forget the results of these questions: the test has them no more. Who resizes an array must own it alone."""
        for number in numbers or ():
            arguments, _ = self.kept.get(number) or ([], [])
            self.kept.put(number, (arguments, []), arguments)

    def current(self, places: Iterable[tuple[int, bool, int]]) -> list[Any]:
        """Return what lies at these places, as it is now, each in a list; an empty list for what is forgotten."""
        return [self._at(*place) for place in places]

    def common(self, one: Iterable[tuple[int, bool, int]], other: Iterable[tuple[int, bool, int]]) -> bool:
        """Whether what lies at the first places has an object or memory in common with what lies at the others."""
        from labkit._memory import common

        return common(self.current(one), self.current(other))

    def _at(self, number: int, came: bool, place: int) -> list[Any]:
        arguments, results = self.kept.get(number) or ([], [])
        return (results if came else arguments)[place : place + 1]


@dataclass
class _Came:
    """A value of an answer: whose, of which question, at what place, and how often its owner was asked until then.

    value: itself, or of an array a weak reference: what becomes of it is of interest while the test has it.
    """

    peer: Peer
    value: Any
    place: tuple[int, bool, int]
    turn: int


class Heard:
    """The trusted end: which values came with which answer, and went with which question."""

    def __init__(self, peer: Peer | None) -> None:
        """peer: to whose process questions go; what other processes answer is not remembered there."""
        self._peer = peer
        self._came, self._sent = _Last(), _Last()
        self._parts: collections.Counter[int] = collections.Counter()
        """Of how many values of an answer the test may still have one, by the number of its question."""
        self._gone: list[int] = []

    def sent(self, peer: Peer, number: int, mutable: list[Any]) -> None:
        """Note what went along with a question."""
        for place, value in enumerate(mutable if peer is self._peer else ()):
            _, places = self._sent.get(id(value)) or (value, [])
            self._sent.put(id(value), (value, [*places[-_MOST_PLACES:], (number, False, place)]), [value])

    def came(self, peer: Peer, number: int, mutable: list[Any]) -> None:
        """Note what came with its answer."""
        for place, value in enumerate(mutable if peer is self._peer else ()):
            is_array = isinstance(value, np.ndarray)
            held = weakref.ref(value, functools.partial(self._ended, id(value), number)) if is_array else value
            self._parts[number] += 1
            self._came.put(id(value), _Came(peer, held, (number, True, place), peer.turn), [] if is_array else [value])

    def gone(self) -> list[int]:
        """Return the numbers of the questions of whose answers the test has nothing any more, each once."""
        gone, self._gone = self._gone, []
        return gone

    def _ended(self, key: int, number: int, _reference: Any) -> None:
        """An array of this key, out of the answer to this question, is there no more."""
        self._came.drop(key)
        self._parts[number] -= 1
        if not self._parts[number]:
            del self._parts[number]
            self._gone.append(number)

    def now(self, value: Any) -> Any:
        """Return the value with each part that came as it is now; the value itself if nothing has run since."""
        known = self._old(value)
        if not known or self._peer is None:
            return value
        found = self._peer.ask("current", None, [[came.place for came in known]])
        if type(found) is not list or len(found) != len(known):
            return value
        pairs = zip(known, found, strict=True)
        fresh = {id(_of(came)): now[0] for came, now in pairs if type(now) is list and now}
        return _with(value, fresh)

    def may_have_changed(self, value: Any) -> bool:
        """Whether a part of this came before something else was asked for that may have changed it."""
        return bool(self._old(value))

    def common(self, one: Any, other: Any) -> bool:
        """Whether, says the student's process, its own of the one has memory in common with its own of the other."""
        mine = [came.place for came in self._outermost(one)]
        theirs = [place for part in _within(other) for place in self._places(part)]
        return bool(mine and theirs and self._peer and self._peer.ask("common", None, [mine, theirs]) is True)

    def _old(self, value: Any) -> list[_Came]:
        return [came for came in self._outermost(value) if came.turn < came.peer.turn]

    def _places(self, part: Any) -> list[tuple[int, bool, int]]:
        came, (_, sent) = self._came.get(id(part)), self._sent.get(id(part)) or (None, [])
        return [*sent, *([came.place] if came else [])]

    def _outermost(self, value: Any) -> Iterator[_Came]:
        if (came := self._came.get(id(value))) is not None:
            yield came
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
    if isinstance(one, memoryview):
        return bool(one.tobytes() == other.tobytes())
    before = snapshot(one)
    return bool(before == snapshot(other)) if before is not None else repr(one) == repr(other)


def _of(came: _Came) -> Any:
    return came.value() if isinstance(came.value, weakref.ref) else came.value


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


def _memory_of(value: Any) -> tuple[int, int]:
    """Return a number for what keeps the memory of a value, its own while that lives, and how many bytes those are."""
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    if isinstance(value, np.ndarray):
        return id(value), value.nbytes
    if isinstance(value, _CONTAINERS):
        return id(value), _ITEM_BYTES * len(value)
    try:
        storage = value.untyped_storage()
        return storage.data_ptr() or id(value), storage.nbytes()
    except Exception:  # no tensor, or one without memory of its own
        return id(value), 0
