"""Libraries that no rank imports, for that takes each of them seconds: their names are there, and calls say why not."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any

__all__ = ["without_slow"]

_SLOW = {"keras", "tensorflow"}


def _refuse(name: str) -> ImportError:
    return ImportError(f"{name} is not there: ranks do not import {name.partition('.')[0]}, which takes seconds")


class _NotMade:
    """Base class of what stands for a class: nothing is an instance of it."""

    def __new__(cls, *_arguments: Any, **_named: Any) -> Any:
        raise _refuse(f"{cls.__module__}.{cls.__qualname__}")


class _Absent(types.ModuleType):
    """Stands for a module, or for what one holds: a function may name it in a line that does not run."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self.__name__} has no {name}", name=name)
        of_class = name[0].isupper()
        own = {"__module__": self.__name__}
        found: Any = type(name, (_NotMade,), own) if of_class else _Absent(f"{self.__name__}.{name}")
        setattr(self, name, found)
        return found

    def __call__(self, *_arguments: Any, **_named: Any) -> Any:
        raise _refuse(self.__name__)


def without_slow(modules: Iterable[str]) -> list[str]:
    """Return these but for modules of the slow libraries, in whose places something stands from now on."""
    found = []
    for name in modules:
        if name.partition(".")[0] in _SLOW:
            sys.modules.setdefault(name, _Absent(name))
        else:
            found.append(name)
    return found
