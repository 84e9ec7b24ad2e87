"""Which statements of locked cells give names their meaning: what binds these, what that needs, what acts on it."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from autograder.boundary.locked import Statement, all_statements

__all__ = ["needed", "reached"]

_BUILT_IN = frozenset(dir(builtins))


def reached(cells: Sequence[str], names: frozenset[str]) -> frozenset[str]:
    """Return these names and those that their statements look up, and so on."""
    found, more = frozenset[str](), names
    while more - found:
        found |= more
        more = frozenset(name for s in all_statements(tuple(cells)) if s.binds & found for name in s.uses)
    return found


def needed(among: Sequence[Statement], wanted: frozenset[str], *, wide: bool = False) -> list[Statement]:
    """Return, in order, what gives these names their meaning, and what acts on it: a seed, a shuffle, `setup()`.

    wide: count what a statement binds as another name of the data that it uses (`rows = ROWS`), and one that binds what
    a call returns as acting on the data that the call reaches (`number = fill()`). Much then runs that changes nothing.
    """
    data = {name for s in among if s.gives_data and not (wide and s.constant) for name in s.binds}
    known: set[str] = set()
    more: set[str] = set(wanted)
    chosen: set[int] = set()
    while more - known:
        known |= more
        for place, s in enumerate(among):
            seeds = not s.binds and bool(s.uses) and s.uses <= known | _BUILT_IN
            acts = s.acts or (wide and s.calls)
            other = wide and s.gives_data and bool(s.uses & known & data)
            if s.binds & known or other or (acts and (seeds or s.touches & known & data)):
                chosen.add(place)
                more |= s.uses - _BUILT_IN
                more |= s.binds if other else frozenset()
    return [among[place] for place in sorted(chosen)]
