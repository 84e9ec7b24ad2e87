"""Values of classes that add nothing to a built-in one, or to one of the library's: `class Word(str): pass`.

They travel as what they are derived from, and are of a class of the same name here, which has nothing of the student's:
a text stays one for `re`, and an instance of its class for `isinstance`. On its way back a value is made by its own.
"""

from __future__ import annotations

import collections
from functools import lru_cache
from typing import Any

from autograder.boundary import exact
from autograder.boundary.student_values import reduced, vars_of

__all__ = ["CONTAINERS", "DerivedValue", "name_of", "read", "read_type", "write"]

CONTAINERS: frozenset[type] = frozenset({
    collections.Counter, collections.OrderedDict, collections.UserDict, collections.UserList, collections.defaultdict,
    collections.deque,
})  # fmt: skip
_BASES = {*exact.TYPES, *CONTAINERS}
_NAMES = {**exact.TYPES, **{kind: f"collections.{kind.__name__}" for kind in CONTAINERS}}
_BY_NAME = {name: kind for kind, name in _NAMES.items()}
_MAX_NAME = 100


class DerivedValue:
    """Marks the classes made here for such classes of the other end's."""

    __slots__ = ()
    _boundary_class_handle: int


def name_of(kind: type) -> str:
    """Return the name by which a class travels, `from collections import Counter as Bag`; empty for all others."""
    return _NAMES.get(kind, "")


def read_type(name: Any) -> type:
    """Return the class of this name; KeyError if it is none of these."""
    return _BY_NAME[name]


def write(codec: Any, value: Any, depth: int, *, students: bool) -> dict[str, Any] | None:
    """Return the JSON for such a value of the student's, or for one that came from there; None if it is none."""
    kind = type(value)
    if students:
        if vars_of(value).keys() - {"data"} or not exact.adds_nothing(kind, _BASES):  # UserDict's items are in `data`
            return None
        if not _is_name(kind.__name__):
            return None
        about = codec.refer(kind)
    elif issubclass(kind, DerivedValue):
        about = {"t": "yours", "h": kind._boundary_class_handle}
    else:
        return None
    start, base = len(codec.mutable), kind.__bases__[0]
    own = value if base in CONTAINERS else reduced(value)
    found = codec.encode_as(own, base, depth)
    if isinstance(found, dict) and found.get("t") == "mine":  # a defaultdict, of a factory that does not travel
        return found
    codec.mutable[start:] = [value if one is own else one for one in codec.mutable[start:]]
    return {"t": "derived", "k": about, "n": kind.__name__, "v": found}


def read(codec: Any, value: dict[str, Any], depth: int, *, students: bool) -> Any:
    """Return the value for such JSON; students: at the student's end. ValueError if it is malformed."""
    start, found = len(codec.mutable), codec.decode(value["v"], depth + 1)
    if type(found) not in _BASES or type(found) is bool:
        raise ValueError("derived from what nothing is")
    kind = codec.decode(value["k"]) if students else _class_of(value["n"], type(found), value["k"]["h"])
    made = _made(kind, found)
    codec.mutable[start:] = [made if one is found else one for one in codec.mutable[start:]]
    return made


def _made(kind: Any, found: Any) -> Any:
    if isinstance(found, collections.defaultdict):
        return kind(found.default_factory, found)
    return kind(found, found.maxlen) if isinstance(found, collections.deque) else kind(found)


def _class_of(name: Any, base: type, handle: Any) -> type:
    if type(handle) is not int or not _is_name(name):
        raise ValueError("no class")
    return _made_class(name, base, handle)


def _is_name(name: Any) -> bool:
    return type(name) is str and name.isidentifier() and len(name) <= _MAX_NAME


@lru_cache(maxsize=1_000)
def _made_class(name: str, base: Any, handle: int) -> type:
    own = {"_boundary_class_handle": handle, "__slots__": (), "__module__": "__main__"}
    made: type = type(base)(name, (base, DerivedValue), own)
    return made
