"""Which cells of a notebook can see a change of others: those that use a name of theirs, or of one that does."""

from __future__ import annotations

import symtable
from collections.abc import Collection, Mapping
from functools import cache

from autograder.boundary.locked import global_names

__all__ = ["reached"]


def reached(cells: Mapping[str, str], changed: Collection[str], tests: Collection[str] = ()) -> frozenset[str]:
    """Return the ids of the changed cells, and of all that use what they define, whatever stands first.

    cells: the source of each code cell, by id. A name counts as used wherever it is looked up among the cell's globals,
    in a function too; what is imported counts as defined by no cell, for all import the same. tests: cells that run
    among names of their own, so that they hand nothing on, and look up of others only what they do not define.
    """
    defined, used = {}, {}
    for number, source in cells.items():
        defined[number] = _defined(source)
        used[number] = _used(source)
        if number in tests:
            used[number] -= defined[number]
            defined[number] = frozenset()
    found = set(changed)
    names = {name for number in found for name in defined[number]}
    grows = True
    while grows:
        new = {number for number in cells if number not in found and used[number] & names}
        found |= new
        names |= {name for number in new for name in defined[number]}
        grows = bool(new)
    return frozenset(found)


_used = cache(global_names)


@cache
def _defined(source: str) -> frozenset[str]:
    symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    return frozenset(symbol.get_name() for symbol in symbols if symbol.is_assigned())
