"""Checks that are gathered before they are asserted: `all(f(x) == y for x, y in CASES)`, `assert not bad`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

from autograder.execution.syntax import called

__all__ = ["each_of", "lists_of", "none_of"]

_Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp
_OPENING = {"enumerate", "items", "range", "zip"}
"""What goes over the data that it is given, and asks nobody."""


def each_of(test: ast.expr) -> ast.expr | None:
    """Return what has to hold for each of some data: c of `all(c for x in DATA)`; None if this is none."""
    return _gathered(test, "all")


def none_of(test: ast.expr, lists: Mapping[str, ast.Compare]) -> ast.Compare | None:
    """Return what has to hold for none of some data: c of `not any(c ...)` and `not bad`; None if this is none.

    lists: see lists_of.
    """
    found: ast.expr | None = None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = _gathered(test.operand, "any") or lists.get(getattr(test.operand, "id", ""))
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        left, right = test.left, test.comparators[0]
        for side, other in ((left, right), (right, left)):
            empty = ast.unparse(other)
            if empty == "[]":
                found = found or lists.get(getattr(side, "id", ""))
            elif empty == "0" and isinstance(side, ast.Call) and called(side) == "len" and side.args:
                found = found or lists.get(getattr(side.args[0], "id", ""))
    return found if isinstance(found, ast.Compare) else None


def lists_of(statements: Sequence[ast.stmt]) -> dict[str, ast.Compare]:
    """Return what has to hold for an item to be in a list that is bound once: `bad = [x for x in XS if f(x) != 1]`."""
    bound = Counter(n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name) and not _reads(n))
    found = {}
    for statement in statements:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and bound[target.id] == 1 and isinstance(value, _Comprehension):
            tests = value.generators[0].ifs
            if len(value.generators) == len(tests) == 1 and _given(value) and isinstance(tests[0], ast.Compare):
                found[target.id] = tests[0]
    return found


def _reads(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _gathered(test: ast.expr, name: str) -> ast.expr | None:
    if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == name):
        return None
    inner = test.args[0] if len(test.args) == 1 else None
    if not isinstance(inner, _Comprehension) or not _given(inner):
        return None
    return inner.elt if len(inner.generators) == 1 and not inner.generators[0].ifs else None


def _given(comprehension: _Comprehension) -> bool:
    """Whether what is gone over is data that lies there: what the student's code returns may have no items."""
    calls = [n for n in ast.walk(comprehension.generators[0].iter) if isinstance(n, ast.Call)]
    return all(called(call) in _OPENING for call in calls)
