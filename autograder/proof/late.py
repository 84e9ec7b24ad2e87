"""A rule of the order of things: what a step begins with is done at its end, where it looks as good.

Readers wrote such answers: gradients that are forgotten after the step, a counter that is raised when its value has
been used. Every step but the first is right then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["LATE", "done_late"]

LATE = "done late"
"""The name of this kind of change."""

_ENDS = ast.Return | ast.Continue | ast.Break | ast.Raise
_OPAQUE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def done_late(function: ast.AST) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Yield calls and `+=` of a function, and after which later statement of its block each could stand.

    Only those that a statement between the two can notice: it says the name of what they change.
    """
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from _in_block(block)


def _in_block(block: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    last = block[:-1] if block and isinstance(block[-1], _ENDS) else block
    for place, statement in enumerate(last[:-1]):
        between = last[place + 1 :]
        changed = _changed(statement)
        if changed and not any(isinstance(each, _OPAQUE) for each in between):
            said = {ast.unparse(part) for each in between for part in ast.walk(each) if isinstance(part, ast.expr)}
            if changed & said:
                yield statement, between[-1]


def _changed(statement: ast.stmt) -> set[str]:
    """Return what a statement may change, as it is written: none if it is no call and no `+=`."""
    if isinstance(statement, ast.AugAssign):
        return {ast.unparse(statement.target)}
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return set()
    call = statement.value
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else call.args
    return {ast.unparse(each) for each in owner if not isinstance(each, ast.Constant)}
