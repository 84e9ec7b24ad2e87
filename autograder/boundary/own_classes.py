"""The student's own classes of named tuples, for a test that gives one of the same name: `case Point(x, y)`.

In a notebook a test that defines such a class anew binds the name that the student's functions look up.
"""

from __future__ import annotations

import weakref
from collections import ChainMap
from collections.abc import Callable
from typing import Any

__all__ = ["begin", "handle_of", "own"]

_NAMES: ChainMap[str, Any] = ChainMap()
"""The notebook's, and nothing else."""
_HANDLES: weakref.WeakKeyDictionary[type, int] = weakref.WeakKeyDictionary()
"""Under which number the test's end has the class of the same name."""


def begin(namespace: dict[str, Any]) -> None:
    """Look names up here, from now on; what a test before has called them is forgotten."""
    _NAMES.maps[:] = [namespace]
    _HANDLES.clear()


def own(name: str, fields: list[str], handle: int, fields_of: Callable[[type], list[str] | None]) -> type | None:
    """Return the student's class of this name, if it is one of named tuples with these fields and nothing more."""
    kind = _NAMES.get(name)
    if type(kind) is not type or not issubclass(kind, tuple) or fields_of(kind) != fields:
        return None
    _HANDLES[kind] = handle
    return kind


def handle_of(kind: type) -> int | None:
    """Return under which number the test's end has the class of this one's name; None if it has given nothing of it."""
    return _HANDLES.get(kind)
