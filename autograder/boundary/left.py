"""What tests have bound when they ran apart, for the tests below them: the objects, and not how they came about.

In a notebook a later test finds what an earlier one has computed. What comes of the student's code there is computed
once, and compared here: made again in the student's process it would be that process's own verdict.
"""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.boundary.exact import KINDS
from autograder.boundary.locked import all_statements

__all__ = ["Left", "is_plain"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, *KINDS)
_MAPPINGS = (dict, Counter, OrderedDict, defaultdict)
_CONTAINERS = (list, tuple, set, frozenset, deque)
_MOST = 100_000
"""So many values are looked at, of one name."""


class _Unbound:
    """In place of a name that a test would have bound, had it come so far."""


class Left:
    """The data that the tests of a notebook have bound so far."""

    def __init__(self) -> None:
        self._by: dict[str, dict[str, Any]] = {}
        self._computed: dict[str, dict[str, Any]] = {}
        self.values: dict[str, Any] = {}
        self.unbound: frozenset[str] = frozenset()
        self.handed: set[str] = set()
        """Names of what a test has handed to the student's code: an object may keep it."""
        self.holds = False
        """Whether something of it is no plain value: it may stand for an object of the student's, or hold one."""

    def note(
        self,
        shown: str,
        space: Mapping[str, Any],
        given: Mapping[str, Any] | None = None,
        handed: Callable[[Any], bool] = lambda _: False,
    ) -> None:
        """Keep what a test has bound, or filled. given: what it found by name, of which nothing is asked.

        handed: whether an object has gone to the student's code.

        shown: what given.left_by_test returns of it, as it stands in the cells above a later one.
        """
        found = dict(given or {}) | dict(space)
        self._by[shown] = {name: found.get(name, _Unbound) for name in _data(shown)}
        self.handed |= {name for name, value in self._by[shown].items() if value is not _Unbound and handed(value)}
        self.holds = self.holds or not all(is_plain(v) for v in self._by[shown].values() if v is not _Unbound)

    def keep(self, cells: Sequence[str], values: Mapping[str, Any]) -> None:
        """Keep what was computed from the student's answers in place of these locked cells: each is asked for once."""
        for cell in cells:
            names = {name for s in all_statements((cell,)) for name in s.binds} & values.keys()
            if names and cell not in self._by:
                own = {n: copy.deepcopy(values[n]) if is_plain(values[n]) else values[n] for n in names}
                self._computed[cell] = self._computed.get(cell, {}) | own
                self.holds = self.holds or not all(map(is_plain, own.values()))

    def bound(self, shown: str) -> list[str]:
        """Return the names that are kept of this test, or were not bound."""
        return sorted(self._by.get(shown, ()))

    def begin(self, cells: Sequence[str], others: Collection[str]) -> None:
        """Set what the next test finds. cells: what stands above it. others: names that are the student's to give."""
        found: dict[str, Any] = {}
        for cell in cells:
            if cell in self._by:
                found |= self._by[cell]
            else:
                for name in (name for s in all_statements((cell,)) for name in s.binds):
                    found.pop(name, None)
                found |= self._computed.get(cell, {})
        found = {name: value for name, value in found.items() if name not in others}
        self.unbound = frozenset(name for name, value in found.items() if value is _Unbound)
        self.values = {n: copy.deepcopy(v) if is_plain(v) else v for n, v in found.items() if v is not _Unbound}


def _data(shown: str) -> frozenset[str]:
    """Return the names that this binds at its top, but for functions, classes and imports."""
    return frozenset(name for s in all_statements((shown,)) if s.gives_data for name in s.binds)


def is_plain(value: Any) -> bool:
    """Whether this holds nothing of the student's: built-in values, and arrays of numbers."""
    left, seen = [value], 0
    while left:
        one, seen = left.pop(), seen + 1
        if seen > _MOST:
            return False
        if type(one) in _MAPPINGS:
            left += [*one, *one.values()]
        elif type(one) in _CONTAINERS:
            left += one
        elif type(one) is np.ndarray or issubclass(type(one), np.generic):  # isinstance asks a stand-in
            if one.dtype.hasobject:
                return False
        elif type(one) not in _PLAIN:
            return False
    return True
