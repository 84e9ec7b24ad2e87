"""What stands in the student's process for an object of the test's: of a class with the name of its own.

Whoever asks for its class, or for the fields of a data class, finds what a notebook has. An object cannot be made of
that class there: whoever tries has its end told, and then a person is, who grades.
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Mapping
from typing import Any

from autograder.boundary.functions import miss
from autograder.boundary.handles import StandIn

__all__ = ["new"]

_LAST: weakref.WeakKeyDictionary[type, weakref.ref[StandIn]] = weakref.WeakKeyDictionary()
"""The last object that stands for one of each class."""


def new(base: type[StandIn], description: Mapping[str, Any]) -> Any:
    """Return an object without any attribute of a class that is derived from base, as its end has described it."""
    name, fields = description.get("k"), description.get("f")
    if type(name) is not str or not name.isidentifier():
        return object.__new__(base)
    kind = _class(base, name, tuple(fields) if isinstance(fields, list) else None)  # type: ignore[arg-type]
    found = object.__new__(kind)
    _LAST[kind] = weakref.ref(found)
    return found


@functools.lru_cache(maxsize=1_000)
def _class(base: type[StandIn], name: str, fields: tuple[str, ...] | None) -> type[StandIn]:
    own = {"__slots__": (), "__doc__": vars(base)["__doc__"], "__module__": "__main__", "__new__": _refuse}
    if fields is None:
        return type(name, (base,), own)
    return dataclasses.make_dataclass(name, fields, bases=(base,), namespace=own, init=False, repr=False, eq=False)


def _refuse(kind: type, *_arguments: Any, **_named: Any) -> Any:
    if (last := _LAST.get(kind, lambda: None)()) is not None:
        miss(last)
    raise TypeError(f"{kind.__name__} is a class of the test's: no object of it can be made here")
