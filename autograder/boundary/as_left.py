"""Whether data of locked cells is still what its cell has left in the student's process.

`model = fit(X, Y)` is made of the student's code, which may remember, draw or train when it is called again. So a test
finds the object that the cell has left, unless a cell of the students' has bound the name anew or changed what it
holds, or what it was made of was no longer that of the locked cells. Then it is made again: see `given_again`.

Nothing here withstands code that looks for it, and nothing need: what comes of the student's code is that code's word.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.boundary.locked import all_statements
from autograder.boundary.student_values import changed, snapshot

__all__ = ["around", "begin", "is_as_left", "note"]

_MOST, _LARGEST = 10_000, 2**26
"""So many values are looked at, of one name, and arrays of at most so many bytes."""
_OF_THE_TEXT = types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type


@dataclass(frozen=True)
class _Left:
    """An object as a cell has left it: what it holds, piece by piece; none if that is too much to look at."""

    value: Any
    pieces: tuple[tuple[Any, Any], ...] | None

    @classmethod
    def of(cls, value: Any) -> _Left:
        with contextlib.suppress(Exception):  # an object of the student's may refuse to be looked at
            return cls(value, _pieces(value))
        return cls(value, None)

    def is_unchanged(self) -> bool:
        return self.pieces is not None and not any(changed(part, before) for part, before in self.pieces)


def _pieces(value: Any) -> tuple[tuple[Any, Any], ...] | None:
    """Return what may be changed in place of a value and of all that it holds, with what it is now."""
    pieces: list[tuple[Any, Any]] = []
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or issubclass(type(one), _OF_THE_TEXT):
            continue
        if len(seen) == _MOST or (type(one) is np.ndarray and one.nbytes > _LARGEST):
            return None
        seen.add(id(one))
        for part in _parts(one):
            pieces.append((part, snapshot(part)))
            waiting += _held(part)
    return tuple(pieces)


def _parts(value: Any) -> list[Any]:
    """Return what may be changed in place: the value, and the names of its own that it has."""
    return [value, own] if type(own := getattr(value, "__dict__", None)) is dict else [value]


def _held(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return list(value) if type(value) in (list, tuple, set, frozenset) else []


_left: dict[str, _Left] = {}
_before: dict[str, Any] = {}
"""What the names of a locked cell meant when it began."""
_spoilt: set[str] = set()
"""Names that no longer meant then what locked cells had left."""


def around(source: str) -> tuple[str, str]:
    """Return what the kernel runs before and after a locked cell."""
    found = [(sorted(s.binds), sorted(s.uses)) for s in all_statements((source,)) if s.binds]
    call = "__import__('autograder.boundary.as_left').boundary.as_left."
    names = sorted({name for binds, _ in found for name in binds})
    return f"{call}begin(globals(), {names!r})", f"{call}note(globals(), {found!r})"


def begin(namespace: Mapping[str, Any], names: Collection[str] = ()) -> None:
    """Remember, before a locked cell or a test runs, what is as it was left, and what the names mean that it binds."""
    _before.clear()
    _before.update({name: namespace[name] for name in names if name in namespace})
    _spoilt.clear()
    _spoilt.update([name for name in _left if not is_as_left(namespace, name)])


def note(namespace: Mapping[str, Any], found: Sequence[tuple[Collection[str], Collection[str]]] = ()) -> None:
    """Remember what a locked cell has left: of each of its statements the names that it binds, and those that it uses.

    What it has made of something that was not as it was left is forgotten. What else was is now as this cell, or a
    test, has left it.
    """
    for binds, uses in found:
        for name in binds:
            bound = name in namespace and not (name in _before and namespace[name] is _before[name])
            if _spoilt.isdisjoint({*uses} - {*binds}) and (bound or (name in _left and name not in _spoilt)):
                _left[name] = _Left(namespace[name], None)
                _spoilt.discard(name)
            else:
                _left.pop(name, None)
                _spoilt.add(name)
    _left.update({name: _Left.of(left.value) for name, left in _left.items() if name not in _spoilt})


def is_as_left(namespace: Mapping[str, Any], name: str) -> bool:
    """Whether a name means the object that a locked cell has bound to it, with what that held then."""
    with contextlib.suppress(Exception):  # it may refuse
        return name in _left and namespace.get(name) is _left[name].value and _left[name].is_unchanged()
    return False
