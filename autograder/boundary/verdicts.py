"""Data of locked cells that is itself a verdict: `accuracy = np.mean([classify(x) == t for x, t in DATA])`.

Where such a statement runs in the student's process, an object that agrees with everything makes it true.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Sequence

from autograder.boundary.locked import Statement, only_imports
from autograder.boundary.scopes import root_of, run_at_once

__all__ = ["verdicts"]

_SAME = ("close", "equal")
_COMPARING = (*_SAME, "accuracy", "distance", "error", "loss", "score")
"""What names of functions that compare have in them: allclose, array_equal, mse_loss, accuracy_score."""
_REDUCING = {
    "abs", "all", "any", "average", "bool", "float", "int", "len", "max", "mean", "median", "min", "norm", "prod",
    "round", "set", "sorted", "std", "sum", "var",
}  # fmt: skip
"""Functions with which a verdict is made of differences."""
_ASSIGNING = ast.Assign | ast.AnnAssign | ast.AugAssign
_COUNTING = ast.For | ast.If
_OPERATORS = ast.Compare | ast.BinOp | ast.BoolOp | ast.UnaryOp


def verdicts(found: Sequence[Statement], ours: Collection[str] = ()) -> list[Statement]:
    """Return the statements that compare or reckon with what is computed, and all that binds or uses the outcome.

    ours: names that are the grader's in any case; what gives only these a meaning does not count.

    An assignment does so itself or in functions of these that it reaches. A loop or a condition does if it asks whether
    values are the same, or counts by a comparison: one that trains does neither.
    """
    functions = {s.name: s for s in found if s.is_function}
    known = {*functions, *dir(builtins), *(name for s in found if only_imports(s.node) for name in s.binds)}
    comparing = {name for name, s in functions.items() if _compares(ast.walk(s.node))}
    data = [s for s in found if s.gives_data and s.binds and isinstance(s.node, _ASSIGNING | _COUNTING)]
    data = [s for s in data if not s.binds <= set(ours)]
    names = {name for s in data if (s.touches & comparing) or _reckons(s.node, known) for name in s.binds}
    while more := {name for s in data if s.binds & names or s.uses & names for name in s.binds} - names:
        names |= more
    return [s for s in data if s.binds & names]


def _reckons(node: ast.stmt, known: Collection[str]) -> bool:
    """Whether this statement does so; known: names of functions and modules that are not the student's."""
    if isinstance(node, _COUNTING):
        counts = any(map(_counts, ast.walk(node)))
        return _compares(ast.walk(node), alike=not counts)
    parts = list(run_at_once(node))
    return any(
        isinstance(part, _OPERATORS) or (_is_call(part) and root_of(part, calls=True) in known) for part in parts
    )


def _counts(node: ast.AST) -> bool:
    """Whether this is `right += 1` or `fine = False`."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.value, ast.Constant | ast.Compare)
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool)


def _compares(nodes: Iterable[ast.AST], *, alike: bool = False) -> bool:
    """Whether one of these compares what is computed, or calls what says by its name that it does.

    alike: count only whether values are the same. A name beside a constant is a counter: `if step % 10 == 0`.
    """
    for node in nodes:
        if _is_call(node, _SAME):
            return True
        if isinstance(node, ast.Compare) and all(isinstance(o, ast.Eq | ast.NotEq) or not alike for o in node.ops):
            sides = [node.left, *node.comparators]
            constant = any(isinstance(side, ast.Constant) for side in sides)
            if not constant or any(isinstance(part, ast.Call) for side in sides for part in ast.walk(side)):
                return True
    return False


def _is_call(node: ast.AST, words: Sequence[str] = _COMPARING) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return any(part in name for part in words) or (words is _COMPARING and name in _REDUCING)
