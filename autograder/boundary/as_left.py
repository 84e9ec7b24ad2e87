"""Whether data of locked cells is still what its cell has left in the student's process.

`model = fit(X, Y)` is made of the student's code, which may remember, draw or train when it is called again. So a test
finds the object that the cell has left, unless a cell of the students' has bound the name anew or changed what it
holds, or what it was made of was no longer that of the locked cells. Then it is made again: see `given_again`.

Nothing here withstands code that looks for it, and nothing need: what comes of the student's code is that code's word.
"""

from __future__ import annotations

import builtins
import contextlib
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.boundary.student_values import changed, snapshot

__all__ = ["begin", "is_as_left", "note", "shadowed", "strayed"]

_MOST, _SAMPLE, _TENSOR_BYTES = 10_000, 4096, 2**15
"""So many values are looked at, of one name, so many numbers of an array, and all of a tensor of so many bytes."""
_OF_THE_TEXT = types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type
_BUILT_IN = frozenset(dir(builtins))


@dataclass(frozen=True)
class _Left:
    """An object as a cell has left it: what it holds, piece by piece, or none where it cannot be looked at.

    Of large ones a part is looked at: what is the same object with the same first values is taken for unchanged.
    """

    value: Any
    pieces: tuple[tuple[Any, Any], ...] | None

    @classmethod
    def of(cls, value: Any) -> _Left:
        with contextlib.suppress(Exception):  # an object of the student's may refuse to be looked at
            return cls(value, _pieces(value))
        return cls(value, None)

    def is_changed(self) -> bool:
        """Whether it can be seen that it holds something else now."""
        with contextlib.suppress(Exception):
            return self.pieces is not None and not self.is_unchanged()
        return False

    def is_unchanged(self) -> bool:
        return self.pieces is not None and not any(_changed(part, before) for part, before in self.pieces)


def _pieces(value: Any) -> tuple[tuple[Any, Any], ...]:
    """Return what may be changed in place of a value and of all that it holds, with what it is now."""
    pieces: list[tuple[Any, Any]] = []
    waiting, seen = [value], set[int]()
    if isinstance(value, type):  # a class of the locked cell's: the data that it holds
        pieces.append((value, _snapshot(value)))
        waiting = [held for _, held in pieces[0][1]]
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if id(one) in seen or issubclass(type(one), _OF_THE_TEXT):
            continue
        seen.add(id(one))
        for part in _parts(one):
            pieces.append((part, _snapshot(part)))
            waiting += _held(part)[:_MOST]
    return tuple(pieces)


def _parts(value: Any) -> list[Any]:
    """Return what may be changed in place: the value, and the names of its own that it has."""
    with contextlib.suppress(Exception):
        if type(own := object.__getattribute__(value, "__dict__")) is dict:
            return [value, own]
    return [value]


def _held(value: Any) -> list[Any]:
    if type(value) is dict:
        return [*value.keys(), *value.values()]
    return list(value) if type(value) in (list, tuple, set, frozenset) else []


def _snapshot(value: Any) -> Any:
    if isinstance(value, type):
        return [(name, held) for name, held in vars(value).items() if name[:1] != "_" and not _is_code(held)]
    large = type(value) is np.ndarray and value.size > _SAMPLE
    return _sampled(value) if large else snapshot(value, _TENSOR_BYTES)


def _identity(named: tuple[str, Any]) -> tuple[str, int]:
    return named[0], id(named[1])


def _is_code(value: Any) -> bool:
    return callable(value) or isinstance(value, property | classmethod | staticmethod | types.MemberDescriptorType)


def _changed(value: Any, before: Any) -> bool:
    if isinstance(value, type):
        return [*map(_identity, _snapshot(value))] != [*map(_identity, before)]
    if type(value) is np.ndarray and value.size > _SAMPLE:
        return bool(_sampled(value) != before)
    return changed(value, before, _TENSOR_BYTES)


def _sampled(value: Any) -> tuple[Any, ...]:
    """Return what tells most changes of a large array: shape, dtype, and numbers from all over it."""
    return value.shape, value.dtype, value.flat[:: value.size // _SAMPLE].tobytes()


_left: dict[str, _Left] = {}
_bound: dict[str, _Left] = {}
"""As the locked cell has left it that bound the name, whatever a test has left since."""
_before: dict[str, Any] = {}
"""What the names of a locked cell meant when it began."""
_spoilt: set[str] = set()
"""Names that no longer meant then what locked cells had left."""


def begin(namespace: Mapping[str, Any], names: Collection[str] = ()) -> None:
    """Remember, before a locked cell or a test runs, what is as it was left, and what the names mean that it binds."""
    _before.clear()
    _before.update({name: namespace[name] for name in names if name in namespace})
    _spoilt.clear()
    _spoilt.update([name for name in _left if not is_as_left(namespace, name)])
    _spoilt.update(shadowed(namespace))


def shadowed(namespace: Mapping[str, Any]) -> set[str]:
    """Return the built-in names that mean something else there, which no locked cell has said."""
    return {name for name in namespace.keys() & _BUILT_IN if name not in _left and name[:2] != "__"}


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
                _bound[name] = _Left.of(namespace[name])
                _spoilt.discard(name)
            else:
                _left.pop(name, None)
                _spoilt.add(name)
    _left.update({name: _Left.of(left.value) for name, left in _left.items() if name not in _spoilt})


def strayed(names: Collection[str]) -> list[str]:
    """Return those of these names whose objects, bound by locked cells, no longer hold what they held then."""
    return [name for name in names if name in _bound and _bound[name].is_changed()]


def is_as_left(namespace: Mapping[str, Any], name: str) -> bool:
    """Whether a name means the object that a locked cell has bound to it, with what that held then."""
    with contextlib.suppress(Exception):  # it may refuse
        return name in _left and namespace.get(name) is _left[name].value and _left[name].is_unchanged()
    return False
