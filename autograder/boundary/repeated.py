"""What of locked cells is made again in the student's process for a test, from their text; given has the rest."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from autograder.boundary.locked import Statement, all_statements, global_names, only_imports
from autograder.boundary.needed import needed, reached

__all__ = ["again_there", "definitions"]

_READING = {"__import__", "eval", "exec", "input", "open"}
"""Built-in functions by which a statement may depend on what its text does not say."""


def definitions(
    cells: Sequence[str],
    theirs: Collection[str],
    test: str,
    again: Collection[str] = (),
    kept: Collection[str] = (),
) -> list[list[str]]:
    """Return what is made again in the student's process, as text, in order.

    Of each cell, its imports, the functions and classes that a test uses, and what gives the names of again a meaning.
    kept: names that the test finds as an earlier one has left them, and that are made only for functions that use them.
    """
    used = reached(cells, (global_names(test) | set(again)) - set(kept))
    data_again = frozenset(name for name in again if name not in kept or name in used)
    free = [[s for s in all_statements((cell,)) if not s.binds & set(theirs)] for cell in cells]
    data = needed([s for some in free for s in some], data_again) if data_again else []
    made = [
        [s for s in some if only_imports(s.node) or s in data or (s.binds & used and _is_made_again(s))]
        for some in free
    ]
    return [[ast.unparse(statement.node) for statement in some] for some in made if some]


def again_there(
    cells: Sequence[str], theirs: Collection[str], test: str, again: Collection[str] = ()
) -> frozenset[str]:
    """Return the names that mean in the student's process what the locked text says, while this test runs.

    No import is among them, and no data that is made with one, or read, and of nothing of the student's: what modules
    and files are there, the student's code says.
    """
    made = all_statements(tuple(text for some in definitions(cells, theirs, test, again) for text in some))
    defined = {s.name for s in made if _is_made_again(s)}  # what a function writes to is not made
    imported = {name for s in made if only_imports(s.node) for name in s.binds}
    data = {name for s in made if not _is_made_again(s) and not only_imports(s.node) for name in s.binds} & set(again)
    found = {name: reached(cells, frozenset([name])) for name in data}
    outside = imported | _READING
    return frozenset(defined | {n for n, reach in found.items() if reach & set(theirs) or not reach & outside})


def _is_made_again(statement: Statement) -> bool:
    return statement.is_class or isinstance(statement.node, ast.FunctionDef)
