"""A list or dictionary that a test hands over again is the same object there, as long as neither side has changed it.

What travels is a copy, and a function that looks for its argument by identity (`item is not wanted`) would never find
a copy. So of a value that went to the student's process before, the test's end says where: that end takes the object
that it made of it then, if that still holds what comes now. Only tests of other courses do so: those of this one are
written for copies.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from autograder.boundary.remembered import Remembered
from autograder.boundary.student_values import CHANGING

__all__ = ["HandedOver", "taken_again"]

_SCALARS = {bool, bytes, complex, float, int, str, type(None)}
_MOST, _MOST_ITEMS = 5_000, 1_000_000
"""So many values are known again, and those with so many items together; those that come later are copies."""


class HandedOver:
    """The test's end: where in which question a value went to the student's process first."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[Any, tuple[int, int]]] = {}
        self._items = _MOST_ITEMS

    def note(self, number: int, values: Sequence[Any]) -> None:
        """Note what went with the question of this number."""
        for place, value in enumerate(values):
            if type(value) in CHANGING and id(value) not in self._places and len(self._places) < _MOST:
                self._items -= len(value)
                if self._items >= 0:
                    self._places[id(value)] = value, (number, place)

    def place_of(self, value: Any) -> tuple[int, int] | None:
        """Return the question's number and the place of a value in it; None if it did not go there."""
        known = self._places.get(id(value)) if type(value) in CHANGING else None
        return known[1] if known else None


def taken_again(remembered: Remembered, place: Any, value: Any) -> Any:
    """The student's end: return the object that a value was when it came at this place; the value if it is another."""
    own = remembered.current([(place[0], False, place[1])])[0]
    return own[0] if own and type(own[0]) is type(value) and _alike(own[0], value) else value


def _alike(one: Any, other: Any) -> bool:
    """Whether two of a kind hold the same objects, or equal numbers and texts, in the same order."""
    if isinstance(one, set):
        return bool(one == other)
    if isinstance(one, dict | collections.UserDict):
        one, other = ([part for pair in each.items() for part in pair] for each in (one, other))
    return len(one) == len(other) and all(map(_is_same, one, other))


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and type(one) in _SCALARS and one == other)
