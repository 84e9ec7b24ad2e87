"""Which names of locked cells are the instructor's own code: modules of a folder, classes, and what is made of them.

What a library computes of the student's code is data; what the instructor's code says of it is a verdict, perhaps.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import sysconfig
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from autograder.boundary.locked import Statement, only_imports

__all__ = ["judges"]

_KIT = {"labkit"}
"""What reports by itself, and is the grader's in each process."""


def judges(found: Sequence[Statement], classes: Collection[str], known: Collection[str]) -> set[str]:
    """Return the names of what may judge: what comes from the instructor's modules, these classes, and their objects.

    known: all names that are not the student's.
    """
    names = {*classes, *(name for s in found if only_imports(s.node) for name in _of_own_modules(s.node))}
    made = [s for s in found if s.gives_data and s.touches <= set(known)]
    while more := {name for s in made if s.touches & names for name in s.binds} - names:
        names |= more
    return names


def _of_own_modules(node: ast.stmt) -> Iterator[str]:
    """Yield what an import binds of modules that are neither Python's own nor installed."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (a.asname or a.name.partition(".")[0] for a in part.names if not _is_library(a.name))
        elif isinstance(part, ast.ImportFrom) and (part.level or not _is_library(part.module or "")):
            yield from (alias.asname or alias.name for alias in part.names)


def _is_library(module: str) -> bool:
    return _installed(module.partition(".")[0])


@cache
def _installed(package: str) -> bool:
    """Whether a package is Python's own, or stands where packages are installed; it is not imported."""
    if package in sys.stdlib_module_names or package in _KIT:
        return True
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    places = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    homes = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
    return any(place.startswith(homes) for place in places)
