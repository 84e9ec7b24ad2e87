"""Lists and the like of the student's that a test empties under the name that they have there.

Apart from the student's code the value of a name is a copy: `inventory.clear()` in a test would clear that alone.
So the student's process is told that the test has emptied it, before it is asked for anything else. What else a test
makes of it is not told: `counts.subtract(WANT)` would say what is wanted.
"""

from __future__ import annotations

import array
import ast
import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

from autograder.boundary.parsing import syntax_tree, without_magics
from autograder.boundary.scopes import root_of
from autograder.boundary.student_values import CHANGING

__all__ = ["Emptied", "empty", "names_changed"]

_CHANGING = {
    "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
    "intersection_update", "move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault",
    "sort", "subtract", "symmetric_difference_update", "update",
}  # fmt: skip
"""Methods of lists, dictionaries and sets that change them."""
_LIKELY = re.compile(rf"\.(?:{'|'.join(sorted(_CHANGING))})\(|\][^\n=]{{0,4}}=(?!=)|\bdel\b")


class Emptied:
    """The names that a test may empty, with what it was given under each."""

    def __init__(self, sources: Iterable[str] = ()) -> None:
        """sources: the test, and locked cells whose functions it may call."""
        self._names = frozenset().union(*map(names_changed, sources))
        self._came: dict[str, Any] = {}

    def came(self, name: str, value: Any) -> None:
        """Note the value of a name, a copy, if it has items and the test may empty it."""
        if name in self._names and type(value) in CHANGING and len(value):
            self._came[name] = value

    def tell(self, ask: Callable[[str, Any, list[Any]], Any]) -> None:
        """Tell the student's process which of these values the test has emptied since, by this function."""
        for name in [name for name, value in self._came.items() if not len(value)]:
            del self._came[name]
            ask("empty", None, [name])


@functools.lru_cache(maxsize=1_000)
def names_changed(source: str) -> frozenset[str]:
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


def empty(own: Any) -> None:
    """Empty a list, a dictionary or the like, in place."""
    if isinstance(own, list | array.array | bytearray):
        del own[:]
    elif type(own) in CHANGING:
        own.clear()
