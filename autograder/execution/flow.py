"""What can be said of statements from their text: which of them run, and what they compare."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autograder.execution.syntax import called, is_case

__all__ = [
    "difference_in",
    "is_plain",
    "neighbours",
    "opposite_of",
    "raises_if",
    "runs_through",
    "straight",
    "title_of",
    "wanted",
]

_TRANSPARENT = {"catch_warnings", "object", "open", "patch", "redirect_stderr", "redirect_stdout"}
"""Context managers that let errors out; `object` is that of patch."""
_WIDE = {"approx", "around", "int", "round", "trunc"}
"""Calls that make one of several numbers."""
_SIZES = {"abs", "absolute", "fabs", "norm"}
_LARGEST = {"amax", "max"}
_REWRITTEN = {"cancel", "expand", "factor", "nsimplify", "simplify", "trigsimp"}


def runs_through(statement: ast.Try | ast.With | ast.For) -> bool:
    """Whether the body runs, each of its statements, and every error in it ends the cell."""
    if isinstance(statement, ast.With):
        return all(called(item.context_expr) in _TRANSPARENT for item in statement.items)
    if isinstance(statement, ast.For):
        plain = all(
            isinstance(inner, ast.Assert | ast.Assign | ast.Expr) or (isinstance(inner, ast.If) and raises_if(inner))
            for inner in statement.body
        )
        return plain and _comes_round(statement.iter)
    return True


def raises_if(statement: ast.If) -> bool:
    """Whether this does nothing but end the cell where its condition holds: `if found != wanted: raise`."""
    last = statement.body[-1]
    fails = isinstance(last, ast.Raise) or (isinstance(last, ast.Assert) and not getattr(last.test, "value", True))
    return not statement.orelse and (fails or (isinstance(last, ast.Expr) and called(last.value) == "fail"))


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def opposite_of(test: ast.expr) -> ast.Compare | None:
    """Return what holds where this does not, at its place; None if that is not one comparison."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return None
    opposite = ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    return ast.copy_location(opposite, test)


def _comes_round(over: ast.expr) -> bool:
    """Whether a loop over this is run through at least once."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range":
        bounds = [a.value for a in over.args if isinstance(a, ast.Constant) and type(a.value) is int]
        return len(bounds) == len(over.args) > 0 and len(range(*bounds)) > 0
    return isinstance(over, ast.List | ast.Tuple) and bool(over.elts)


def straight(function: ast.FunctionDef) -> bool:
    """Whether a call without arguments runs each statement of the body."""
    arguments = function.args
    plain = not (
        arguments.args or arguments.kwonlyargs or arguments.vararg or arguments.kwarg or function.decorator_list
    )
    return plain and not any(isinstance(n, ast.Return | ast.Yield | ast.Await) for n in ast.walk(function))


def wanted(statement: ast.stmt) -> Iterator[ast.Name]:
    """Yield the names that something is compared with, exactly: `approx` and `round` on the other side have a reach."""
    test = statement.test if isinstance(statement, ast.Assert) else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        sides = (test.left, test.comparators[0])
        if not any(called(node) in _WIDE for side in sides for node in ast.walk(side)):
            yield from (side for side in sides if isinstance(side, ast.Name))


def difference_in(node: ast.expr, *, signed: bool) -> ast.BinOp | None:
    """Return the difference whose size an expression is: `norm(a - b)`, `np.abs(a - b).max()`; None if it is not one.

    signed: a bare one will do as well, and one that is only written otherwise: `simplify(a - b)`.
    """
    sized = signed
    while isinstance(node, ast.Call):
        name = called(node)
        passed_on = name in _SIZES or (signed and name in _REWRITTEN) or (name in _LARGEST and _within(node))
        if not passed_on:
            return None
        sized = sized or name in _SIZES
        node = node.args[0] if node.args else getattr(node.func, "value", node.func)
    subtracts = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
    return node if sized and isinstance(node, ast.BinOp) and subtracts else None


def _within(node: ast.Call) -> bool:
    """Whether the largest is taken of sizes: one of signed differences may be of either sign."""
    inner = node.args[0] if node.args else getattr(node.func, "value", node.func)
    return called(inner) in _SIZES and len(node.args) < 2


def is_plain(node: ast.expr) -> bool:
    """Whether this is the same each time it is looked at."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and is_plain(node.value))


def neighbours(statements: Sequence[ast.stmt]) -> dict[str, set[str]]:
    """Return for each attribute of a name the others of the same: for `Color.RED` `Color.GREEN`."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    functions = {node.func for node in nodes if isinstance(node, ast.Call)}
    found = [node for node in nodes if isinstance(node, ast.Attribute) and node not in functions]
    read = {(node.value.id, node.attr) for node in found if isinstance(node.value, ast.Name)}
    return {f"{a}.{b}": {f"{a}.{other}" for root, other in read if root == a and other != b} for a, b in read}


def title_of(statement: ast.stmt) -> str:
    """Return the title of the case that a statement is; empty if it is none, or if the title is made."""
    call = statement.items[0].context_expr if isinstance(statement, ast.With) and len(statement.items) == 1 else None
    if isinstance(call, ast.Call) and is_case(call) and call.args and isinstance(call.args[0], ast.Constant):
        return str(call.args[0].value)
    return ""
