"""Lists and the like of the student's that a test changes in place under the name that they have there.

Apart from the student's code the value of a name is a copy: `inventory.clear()` in a test would clear that alone.
So the student's process is told what the test has made of it, before it is asked for anything else. Results of calls
are not told: `d = f(x)`, then `d -= want`, would say what is wanted.
"""

from __future__ import annotations

import ast
import collections
import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

from autograder.boundary.exchanges import within
from autograder.boundary.mirror import update
from autograder.boundary.parsing import syntax_tree, without_magics
from autograder.boundary.scopes import root_of
from autograder.boundary.student_values import CHANGING, changed, snapshot

__all__ = ["Filled", "names_filled", "refill"]

_CHANGING = {
    "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
    "intersection_update", "move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault",
    "sort", "subtract", "symmetric_difference_update", "update",
}  # fmt: skip
"""Methods of lists, dictionaries and sets that change them."""
_LIKELY = re.compile(rf"\.(?:{'|'.join(sorted(_CHANGING))})\(|\][^\n=]{{0,4}}=(?!=)|\bdel\b")


class Filled:
    """The names that a test fills, with what it was given under each."""

    def __init__(self, sources: Iterable[str] = ()) -> None:
        """sources: the test, and locked cells whose functions it may call."""
        self._names = frozenset().union(*map(names_filled, sources))
        self._came: dict[str, tuple[Any, list[tuple[Any, Any]]]] = {}

    def came(self, name: str, value: Any) -> None:
        """Note the value of a name, a copy, if the test fills it."""
        if name in self._names and type(value) in CHANGING:
            self._came[name] = value, _parts_of(value)

    def tell(self, ask: Callable[[str, Any, list[Any]], Any]) -> None:
        """Tell the student's process what the test has made of these values since, by this function."""
        for name, (value, parts) in [*self._came.items()]:
            if any(changed(part, then) for part, then in parts):
                self._came[name] = value, _parts_of(value)
                ask("fill", None, [name, value])


def _parts_of(value: Any) -> list[tuple[Any, Any]]:
    """Return what can be changed of a value, each with how it looks now."""
    return [(part, snapshot(part)) for part in within(value) if type(part) in CHANGING]


@functools.lru_cache(maxsize=1_000)
def names_filled(source: str) -> frozenset[str]:
    """Return the names that a piece of code does not bind, and what they mean it changes in place."""
    if not _LIKELY.search(source):  # most cells change nothing in place, and their syntax tree takes a while
        return frozenset()
    try:
        nodes = [*ast.walk(syntax_tree(without_magics(source)))]
    except (MemoryError, RecursionError, SyntaxError, ValueError):  # `%%bash`: it runs nowhere as Python
        return frozenset()
    filled = {
        n.func.value
        for n in nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _CHANGING
    }
    filled |= {n for n in nodes if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    bound |= {
        alias.asname or alias.name for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for alias in n.names
    }
    return frozenset(map(root_of, filled)) - bound - {""}


def refill(own: Any, value: Any) -> None:
    """Bring a list, a dictionary or the like up to date in place, and those in it that are still of one kind."""
    if isinstance(own, list) and type(own) is type(value):
        value = [_kept(own[place], new) if place < len(own) else new for place, new in enumerate(value)]
    elif isinstance(own, dict) and type(own) is type(value):
        value = type(value)(value) if type(value) is not collections.defaultdict else value
        for key in own.keys() & value.keys():
            value[key] = _kept(own[key], value[key])
    update(own, value)


def _kept(own: Any, value: Any) -> Any:
    """Return the object that is there already, as the value says that it is; else the value."""
    if type(own) is not type(value) or type(own) not in CHANGING:
        return value
    refill(own, value)
    return own
