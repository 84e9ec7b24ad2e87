"""Which special methods a stand-in has: those that the class of its object has.

So `callable`, `hasattr` and the classes of `collections.abc` say of it what they say of the object, and Python does
without a method what it does there: `in` goes through the items, an object without a length is true. Only what has
items by their numbers can be gone through here by `__iter__`, too, which counts them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.boundary.handles import StandIn
from autograder.boundary.operations import COMPARISONS

__all__ = ["OF_ALL", "Shapes"]

OF_ALL = frozenset({*(f"__{name}__" for name in COMPARISONS), "__str__", "__repr__", "__hash__", "__format__"})
"""What every object has. What differs is whether its class says itself what it does."""
_MOST = 2_000
"""So many classes are made; what the student's end tells beyond has everything."""


class Shapes:
    """The classes of stand-ins that are derived from one base, by what their objects' classes have.

    methods: all special methods that one may have beside those of the base, by name.
    """

    def __init__(self, base: type[StandIn], methods: dict[str, Callable[..., Any]]) -> None:
        self._base, self._methods = base, methods
        self._bits = {name: 1 << place for place, name in enumerate(sorted({*methods, *OF_ALL}))}
        self._names, self._all = frozenset(self._bits), sum(self._bits.values())
        self._made: dict[tuple[int, bool], type[StandIn]] = {}

    def of(self, value: Any) -> int:
        """Return which of these methods an object's class has; of those that all have, which it has of its own."""
        kind = type(value)
        found: dict[str, bool] = {}
        for base in reversed(kind.__mro__):
            own = vars(base)
            for name in own.keys() & self._names:
                found[name] = own[name] is not None and not (base is object and name in OF_ALL)
        if isinstance(value, type) and any("__class_getitem__" in vars(base) for base in value.__mro__):
            found["__getitem__"] = True  # `Stack[int]`
        return sum(self._bits[name] for name, has in found.items() if has)

    def derived(self, shape: Any, *, hashed: bool) -> type[StandIn]:
        """Return the class for a shape, which the other end has told; one that has everything if it has told none."""
        key = shape & self._all if type(shape) is int and shape >= 0 else self._all, hashed
        if key not in self._made:
            key = key if len(self._made) < _MOST else (self._all, True)
            self._made[key] = self._made.get(key) or self._class(*key)
        return self._made[key]

    def _class(self, shape: int, hashed: bool) -> type[StandIn]:
        base = self._base
        names = {name for name, bit in self._bits.items() if shape & bit}
        if "__getitem__" in names:  # what Python goes through item by item
            names.add("__iter__")
        own: dict[str, Any] = {name: self._methods[name] for name in names - OF_ALL}
        own |= {} if hashed else {"__hash__": None}
        own |= {"_boundary_own": frozenset(names & OF_ALL), "__slots__": (), "__doc__": vars(base)["__doc__"]}
        return type(base.__name__, (base,), own | {"__module__": base.__module__})
