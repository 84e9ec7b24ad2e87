"""Data of locked cells that is itself a verdict: `accuracy = np.mean([classify(x) == t for x, t in DATA])`.

Where such a statement runs in the student's process, an object that agrees with everything makes it true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autograder.boundary.locked import Statement
from autograder.boundary.scopes import run_at_once

__all__ = ["verdicts"]

_COMPARING = ("close", "equal")
"""What names of functions that compare have in them: allclose, isclose, array_equal, assert_equal."""
_ASSIGNING = ast.Assign | ast.AnnAssign | ast.AugAssign
_COUNTING = ast.For | ast.If


def verdicts(found: Sequence[Statement]) -> list[Statement]:
    """Return the statements that compare, themselves or in functions of these, with all that binds or uses the outcome.

    A loop or a condition compares if it asks whether two values are the same: one that trains asks which is less.
    """
    functions = {s.name: s for s in found if s.is_function}
    comparing = {name for name, s in functions.items() if _compares(ast.walk(s.node))}
    data = [s for s in found if s.gives_data and s.binds and isinstance(s.node, _ASSIGNING | _COUNTING)]
    names = {name for s in data if (s.touches & comparing) or _is_compared(s.node) for name in s.binds}
    while more := {name for s in data if s.binds & names or s.uses & names for name in s.binds} - names:
        names |= more
    return [s for s in data if s.binds & names]


def _is_compared(node: ast.stmt) -> bool:
    if isinstance(node, _COUNTING):
        return _compares(ast.walk(node), alike=True)
    return any(isinstance(part, ast.Compare) or _is_call(part) for part in run_at_once(node))


def _compares(nodes: Iterable[ast.AST], *, alike: bool = False) -> bool:
    """Whether one of these compares what is computed, or calls what says by its name that it does.

    alike: count only whether values are the same. A name beside a constant is a counter: `if step % 10 == 0`.
    """
    for node in nodes:
        if _is_call(node):
            return True
        if isinstance(node, ast.Compare) and all(isinstance(o, ast.Eq | ast.NotEq) or not alike for o in node.ops):
            sides = [node.left, *node.comparators]
            constant = any(isinstance(side, ast.Constant) for side in sides)
            if not constant or any(isinstance(part, ast.Call) for side in sides for part in ast.walk(side)):
                return True
    return False


def _is_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return any(part in name for part in _COMPARING)
