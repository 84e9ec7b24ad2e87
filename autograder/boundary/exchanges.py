"""What went with each question and came with its answer, as both ends know it: by number of the question and place.

A value that comes is a copy. What has become of the student's own since, and whether it is one with an argument, only
the student's process can look up: its end remembers the objects, for a while, and the trusted end their numbers.
"""

from __future__ import annotations

import collections
import functools
import itertools
import sys
import weakref
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.boundary.crossed import Crossed
from autograder.boundary.handles import is_stand_in
from autograder.boundary.remembered import Last
from autograder.boundary.student_values import snapshot

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = ["Heard", "alike", "within"]


_MOST_ASKED = 300
"""Of so many answers, the last ones, is looked up with each question whether the test still has something of them."""


@dataclass
class _Came:
    """A value of an answer: of which question, at what place, and how often the other end was asked until then.

    value: itself, or of an array a weak reference: what becomes of it is of interest while the test has it.
    """

    value: Any
    place: tuple[int, bool, int]
    turn: int

    def here(self) -> Any:
        """Return it; None if the test has it no more."""
        return self.value() if isinstance(self.value, weakref.ref) else self.value

    def is_dropped(self, crossed: Crossed) -> bool:
        """Whether the test has it no more. What contains it has to be asked before: that may be all that has it."""
        if self.here() is None:
            return True
        if isinstance(self.value, weakref.ref) or sys.getrefcount(self.value) > _OURS + crossed.holds(self.value):
            return False
        crossed.drop(self.value)
        self.value = None
        return True


_NO_MORE = _Came([], (0, True, 0), 0)
_OURS = sys.getrefcount(_NO_MORE.value)
"""So many refer to a list that came and that the test has no more: what is kept here, and who counts."""


class _Answer:
    """What the test still has of an answer. Until this ends, `came` knows its values by their ids."""

    def __init__(self, came: dict[int, _Came]) -> None:
        self._came = came
        self.keys: dict[int, _Came] = {}

    def keep(self, came: _Came, value: Any, ended: Callable[[int, Any], None]) -> None:
        """Keep a value. ended: called with its key when an array is there no more."""
        if isinstance(came.value, weakref.ref):
            came.value = weakref.ref(value, functools.partial(ended, id(value)))
        self.keys[id(value)] = self._came[id(value)] = came

    def has(self, place: Any, crossed: Crossed) -> bool:
        """Whether the test still has what came at this place."""
        key = next((key for key, came in self.keys.items() if came.place[2] == place), None)
        if key is not None and self.keys[key].is_dropped(crossed):
            self.forget(key)
        return key in self.keys

    def is_over(self, crossed: Crossed) -> bool:
        """Forget lists that are only here and there, the outermost first, up to one that is not; whether none is left.

        Of what is in a list that the test has it has everything. Arrays tell themselves when they end.
        """
        while self.keys and self.keys[key := next(iter(self.keys))].is_dropped(crossed):
            self.forget(key)
        return not self.keys

    def end(self) -> None:
        """Forget all of it."""
        for key in [*self.keys]:
            self.forget(key)

    def forget(self, key: int) -> None:
        """Forget a value, if it is there."""
        came = self.keys.pop(key, None)
        if came is not None and self._came.get(key) is came:
            del self._came[key]


class Heard:
    """The trusted end: which values came with which answer, and went with which question."""

    def __init__(self, peer: Peer | None, crossed: Crossed) -> None:
        """peer: to whose process questions go; what other processes answer is not remembered there.

        crossed: who keeps what came, too.
        """
        self._peer = peer
        self._crossed = crossed
        self._sent = Last()
        self._latest: tuple[list[_Came], int] = [], 0
        """Of the latest answer, and its size; most tests are done with it before they ask again."""
        self._answers = Last(_Answer.end)
        self._came: dict[int, _Came] = {}
        self._gone: list[int] = []

    def sent(self, peer: Peer, number: int, mutable: list[Any], size: int) -> None:
        """Note what went along with a question. size: of the message."""
        if peer is self._peer:
            self._settle()
            if mutable:
                self._sent.put(number, mutable, size)

    @property
    def any_sent(self) -> bool:
        """Whether anything that can be changed went along with a question."""
        return any(True for _ in self._sent)

    def has_sent(self, value: Any) -> bool:
        """Whether this very object went along with a question."""
        return any(one is value for _, mutable in self._sent for one in mutable)

    def sent_at(self, number: Any, place: Any) -> Any:
        """Return what went along with a question of this number, at this place; None if it is not known."""
        sent = self._sent.get(number) if type(number) is int else None
        return sent[place] if sent and type(place) is int and 0 <= place < len(sent) else None

    def came(self, peer: Peer, number: int, mutable: list[Any], size: int) -> None:
        """Note what came with its answer; with a question of the student's end, whose number is then below zero."""
        if peer is self._peer and mutable:
            self._settle()
            held = (weakref.ref(value) if type(value) is np.ndarray else value for value in mutable)
            self._latest = [_Came(value, (number, True, place), peer.turn) for place, value in enumerate(held)], size

    def gone(self, peer: Peer) -> list[int]:
        """Return the numbers of the questions of whose answers the test has nothing any more, each once."""
        gone: list[int] = []
        if peer is self._peer:
            for number, answer in [*itertools.islice(reversed(self._answers), _MOST_ASKED)]:
                self._look_at(number, answer)
            gone, self._gone = self._gone, gone
        return gone

    def has(self, peer: Peer, number: Any, place: Any) -> bool:
        """Whether the test still has what came there."""
        self._settle()
        answer = self._answers.get(number) if peer is self._peer and type(number) is int else None
        return answer is not None and answer.has(place, self._crossed)

    def _settle(self) -> None:
        """Remember what the test still has of the latest answer."""
        (latest, size), self._latest = self._latest, ([], 0)
        if not latest:
            return
        number, answer = latest[0].place[0], _Answer(self._came)
        for came in latest:
            if not came.is_dropped(self._crossed) and (value := came.here()) is not None:
                answer.keep(came, value, functools.partial(self._ended, number, answer))
        if answer.keys:
            self._answers.put(number, answer, size)
        else:
            self._gone.append(number)

    def _ended(self, number: int, answer: _Answer, key: int, _reference: Any) -> None:
        """Of an answer to this question an array is there no more."""
        answer.forget(key)
        self._look_at(number, answer)

    def _look_at(self, number: int, answer: _Answer) -> None:
        """See whether something is still there of an answer to this question."""
        if answer.is_over(self._crossed) and self._answers.get(number) is answer:
            self._answers.drop(number)
            self._gone.append(number)

    def now(self, value: Any, known: list[_Came]) -> Any:
        """Return the value with these parts, which came earlier, as they are now."""
        if self._peer is None:
            return value
        found = self._peer.ask("current", None, [[came.place for came in known]])
        if type(found) is not list or len(found) != len(known):
            return value
        pairs = zip(known, found, strict=True)
        fresh = {id(came.here()): now[0] for came, now in pairs if type(now) is list and now}
        return _with(value, fresh)

    def common(self, one: Any, other: Any) -> bool:
        """Whether, says the student's process, its own of the one has memory in common with its own of the other."""
        self._settle()
        if is_stand_in(one) and one is other:
            return True
        parts = within(other)
        mine = [[came.place for came in self._outermost(one)], [*filter(is_stand_in, within(one))]]
        theirs = [[place for part in parts for place in self._places(part)], [*filter(is_stand_in, parts)]]
        if self._peer is None or not any(mine) or not any(theirs):
            return False
        return self._peer.ask("common", None, [*mine, *theirs]) is True

    def old(self, value: Any) -> list[_Came]:
        """Return the parts of a value that came before something else was asked for that may have changed them."""
        turn = self._peer.turn if self._peer else 0
        if self._latest[0] and self._latest[0][0].turn < turn:
            self._settle()
        return [came for came in self._outermost(value) if came.turn < turn]

    def _places(self, part: Any) -> list[tuple[int, bool, int]]:
        sent = [
            (number, False, place)
            for number, mutable in self._sent
            for place, value in enumerate(mutable)
            if value is part
        ]
        came = self._came.get(id(part))
        return [*sent, *([came.place] if came else [])]

    def _outermost(self, value: Any) -> Iterator[_Came]:
        for part in _walk(value, self._came):
            if (came := self._came.get(id(part))) is not None:
                yield came


def alike(one: Any, other: Any) -> bool:
    """Whether two values that came are the same, down to the bytes of arrays; no method of an object is asked."""
    if type(one) is not type(other):
        return False
    if one is other or is_stand_in(one) or is_stand_in(other):
        return one is other
    if isinstance(one, dict | collections.UserDict):
        return alike([*one.items()], [*other.items()])
    if isinstance(one, np.ndarray) and one.dtype.hasobject:
        return one.shape == other.shape and all(map(alike, one.flat, other.flat))
    if isinstance(one, list | tuple | collections.deque | collections.UserList):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, memoryview):
        return bool(one.tobytes() == other.tobytes())
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
    if type(value) in {dict, collections.UserDict}:
        return [*value.values()]
    return [*value] if type(value) in {list, tuple, collections.UserList} else []


def _walk(value: Any, ends: Container[int] = ()) -> Iterator[Any]:
    """Yield a value and all that it contains, each object once; not what is in one whose id is among `ends`."""
    left, seen = [value], set[int]()
    while left:
        part = left.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            left += [] if id(part) in ends else _items(part)


def within(value: Any) -> list[Any]:
    """Return a value and all that its lists, tuples and dictionaries contain, each object once."""
    return [*_walk(value)]
