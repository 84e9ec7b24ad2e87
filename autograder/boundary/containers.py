"""Containers of the standard library beside the built-in ones, which travel as what they are: a Counter is a dict to C.

A stand-in would say that it is a dictionary, and json, a match statement or `issubclass` would see that it is none.
A named tuple, whose class only the student's process has, is one here too; on its way back it is made by its own class.
"""

from __future__ import annotations

import array
import collections
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from autograder.boundary import exact, own_classes
from autograder.boundary.handles import StandIn
from autograder.boundary.operations import compares

__all__ = ["KINDS", "NamedValue", "fields_of", "read_named", "remade", "write_named"]

_MAX_FIELDS, _MAX_NAME = 255, 100

_NUMBERS = {code: code for code in "bBhHiIlLqQfd"}
_OF_VIEWS = _NUMBERS | {code: code for code in ("?", "e", "Zf", "Zd")}
_T = TypeVar("_T")
_Parts = Callable[[Any], list[Any]]
_Make = Callable[[list[Any]], Any]


def _factory(name: Any) -> Any:
    return None if name is None else exact.read_type(name)


def _exactly(kind: type[_T], value: Any) -> _T:
    """Return a part of this very class; TypeError for anything else, which would have to be asked for what it holds."""
    if type(value) is not kind:
        raise TypeError(f"a part that is no {kind.__name__}")
    return value


def _machine_values(typecode: Any, content: Any) -> array.array[Any]:
    """Return numbers, as the array module keeps them; not its characters, whose bytes need not be any."""
    if typecode not in tuple(_NUMBERS) or type(content) is not bytes:
        raise ValueError("no array of numbers")
    return array.array(typecode, content)


def _numbers(view: memoryview[Any]) -> list[Any]:
    """Return the bytes, the kind of numbers and the lengths of a view; KeyError for one of anything else."""
    return [view.tobytes(), _OF_VIEWS[view.format], list(view.shape or ())]


def _view(content: Any, kind: Any, lengths: Any) -> memoryview[Any]:
    if kind not in tuple(_OF_VIEWS) or not all(type(length) is int for length in _exactly(list, lengths)):
        raise ValueError("no view of numbers")
    if len(lengths) == 1 and kind in _NUMBERS:
        return memoryview(_exactly(bytes, content)).cast(kind)
    dtype = {"Zf": np.complex64, "Zd": np.complex128}.get(kind, kind)
    return np.frombuffer(_exactly(bytes, content), dtype).reshape(lengths).data


KINDS: dict[type, tuple[str, _Parts, _Make]] = {
    collections.Counter: ("counter", lambda x: [dict(x)], lambda parts: collections.Counter(_exactly(dict, parts[0]))),
    collections.OrderedDict: (
        "ordered",
        lambda x: [dict(x)],
        lambda parts: collections.OrderedDict(_exactly(dict, parts[0])),
    ),
    collections.deque: (
        "deque",
        lambda x: [list(x), x.maxlen],
        lambda parts: collections.deque(_exactly(list, parts[0]), parts[1]),
    ),
    collections.defaultdict: (
        "default",
        lambda x: [None if x.default_factory is None else exact.TYPES[x.default_factory], dict(x)],
        lambda parts: collections.defaultdict(_factory(parts[0]), _exactly(dict, parts[1])),
    ),
    array.array: (
        "machine",
        lambda x: [_NUMBERS[x.typecode], x.tobytes()],
        lambda parts: _machine_values(*parts),
    ),
    bytearray: ("bytearray", lambda x: [bytes(x)], lambda parts: bytearray(_exactly(bytes, parts[0]))),
    memoryview: ("memoryview", _numbers, lambda parts: _view(*parts)),
    types.MappingProxyType: (
        "mapping",
        lambda x: [dict(x)],
        lambda parts: types.MappingProxyType(_exactly(dict, parts[0])),
    ),
    collections.ChainMap: (
        "chain",
        lambda x: [list(x.maps)],
        lambda parts: collections.ChainMap(*(_exactly(dict, part) for part in _exactly(list, parts[0]))),
    ),
    collections.UserList: (
        "userlist",
        lambda x: [list(x.data)],
        lambda parts: collections.UserList(_exactly(list, parts[0])),
    ),
    collections.UserDict: (
        "userdict",
        lambda x: [dict(x.data)],
        lambda parts: collections.UserDict(_exactly(dict, parts[0])),
    ),
    collections.UserString: (
        "usertext",
        lambda x: [str(x.data)],
        lambda parts: collections.UserString(_exactly(str, parts[0])),
    ),
    type({}.keys()): ("keys", lambda x: [list(x)], lambda parts: dict.fromkeys(_exactly(list, parts[0])).keys()),
    type({}.values()): (
        "values",
        lambda x: [list(x)],
        lambda parts: dict(enumerate(_exactly(list, parts[0]))).values(),
    ),
    type({}.items()): ("items", lambda x: [dict(x)], lambda parts: _exactly(dict, parts[0]).items()),
}
"""By exact type: the kind's name, its parts, and how it is made of them; KeyError for what code of its own fills in."""


class NamedValue:
    """Marks the classes made here for named tuples of the other end's."""

    __slots__ = ()
    _boundary_class_handle: int


def write_named(value: Any, references: Any, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
    """Return how a named tuple goes, but for its items; None if it goes as other objects do. See wire.References."""
    kind = type(value)
    if issubclass(kind, NamedValue):
        return {"t": "again", "k": {"t": "yours", "h": kind._boundary_class_handle}}
    if (fields := fields_of(kind)) is None:
        return None
    if references.graphs_stay and (handle := own_classes.handle_of(kind)) is not None:
        return {"t": "again", "k": {"t": "yours", "h": handle}}
    known = references.refer(kind, encode)
    if known["t"] == "name" and not references.graphs_stay:  # the student's end can import it
        return {"t": "again", "k": known}
    return {"t": "named", "k": known, "n": kind.__name__, "f": fields}


def read_named(value: dict[str, Any], *, students: bool) -> type:
    """Return a class of named tuples for what the other end says of its own; ValueError if it is not one.

    students: this is the student's end, where a class of the same name may be there already.
    """
    name, fields, handle = value["n"], value["f"], value["k"]["h"]
    texts = [name, *fields] if isinstance(fields, list) else []
    if not 0 < len(texts) <= _MAX_FIELDS or not all(type(text) is str and len(text) <= _MAX_NAME for text in texts):
        raise ValueError("no class of named tuples")
    if type(handle) is not int:
        raise ValueError("invalid handle")
    found = own_classes.own(name, fields, handle, fields_of) if students else None
    return found or _named_class(name, tuple(fields), handle)


def remade(kind: Any, items: list[Any]) -> Any:
    """Return a named tuple of this class; ValueError for another number of items."""
    if len(items) != len(kind._fields):
        raise ValueError("no such named tuple")
    return kind._make(items)


def fields_of(kind: type) -> list[str] | None:
    """Return the fields of a class of named tuples that adds nothing to what `namedtuple` gives it; else None."""
    names = kind.__dict__.get("_fields")
    if kind.__bases__ != (tuple,) or type(names) is not tuple or not all(type(name) is str for name in names):
        return None
    known = {*vars(_plain(len(names))), *names, *exact.BY_PYTHON, "__orig_bases__"}
    return list(names) if set(vars(kind)) <= known else None


@lru_cache(maxsize=32)
def _plain(count: int) -> type:
    return collections.namedtuple("Plain", [f"field{number}" for number in range(count)])


@lru_cache(maxsize=1000)
def _named_class(name: str, fields: tuple[str, ...], handle: int) -> type:
    base: Any = collections.namedtuple(name, fields)  # type: ignore[misc]  # checks that these are identifiers
    own = {field: _not_a_function(field, place) for place, field in enumerate(fields) if compares(field)}
    return type(name, (base, NamedValue), {**own, "_boundary_class_handle": handle, "__slots__": ()})


def _not_a_function(field: str, place: int) -> property:
    """Return a field with the name of a method that compares: what stands there in its place would be told the other.

    An object of the student's is not given; a value, such as a number of votes in `ne`, is.
    """

    def value(named: Any) -> Any:
        found = tuple.__getitem__(named, place)
        if issubclass(type(found), StandIn):
            raise TypeError(f"the field {field} of a named tuple holds no value, and its name says that it compares")
        return found

    return property(value)
