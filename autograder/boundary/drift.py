"""Whether data of locked cells is on the trusted side what it is in the instructor's kernel, where it was filled.

Asked while a foreign lab is tried, with the instructor's solution: a list that a locked cell fills in a way that its
text does not show would be empty here, and a test that goes over it would ask for nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from autograder.boundary.left import is_plain

__all__ = ["drifted"]


def drifted(
    made: Mapping[str, Any], ask: Callable[[str], Any], again: Callable[[], Mapping[str, Any]]
) -> tuple[list[str], list[str]]:
    """Return the names of data that is not what the kernel has, and those of them that are less than that.

    made: by name, what the locked text gives here. ask: returns what the kernel has. again: makes all of it once more;
    what is then another is drawn at random, and says nothing.
    """
    differ: dict[str, Any] = {}
    for name, value in made.items():
        if is_plain(value):
            try:
                there = ask(name)
            except Exception:  # the kernel has it no more, or it does not travel
                continue
            if not _same(value, there):
                differ[name] = there
    drawn = again() if differ else {}
    found = [name for name in sorted(differ) if name in drawn and _same(made[name], drawn[name])]
    return found, [name for name in found if _holds_less(made[name], differ[name])]


def _same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal and of the same types."""
    if type(one) is not type(other):
        return False
    if type(one) is np.ndarray:
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if issubclass(type(one), list | tuple | deque):
        return len(one) == len(other) and all(map(_same, one, other))
    if issubclass(type(one), dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    return bool(one == other) or repr(one) == repr(other) == "nan"


def _holds_less(one: Any, other: Any) -> bool:
    """Whether a test that goes over it, or asks whether there is something, would ask for less than of the other."""
    if type(one) is not type(other) or (not _truth(one) and _truth(other)):
        return True
    if type(one) is np.ndarray:
        return bool(one.shape != other.shape)
    return any(one < other for one, other in zip(_sizes(one), _sizes(other), strict=False))


def _truth(value: Any) -> bool:
    return bool(value.size if type(value) is np.ndarray else value)


def _sizes(value: Any) -> Iterator[int]:
    """Yield the sizes of a container and of those in it, in order."""
    if issubclass(type(value), dict | list | tuple | set | frozenset | deque):
        yield len(value)
        items = value.values() if issubclass(type(value), dict) else value
        for item in () if issubclass(type(value), set | frozenset) else items:
            yield from _sizes(item)
