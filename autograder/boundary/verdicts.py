"""Data of locked cells that is itself a verdict: `accuracy = np.mean([classify(x) == t for x, t in DATA])`.

Where such a statement runs in the student's process, an object that agrees with everything makes it true.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Sequence

from autograder.boundary.locked import Statement, only_imports
from autograder.boundary.ours import judges
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
_MATCHING = {
    "contains", "count", "countOf", "discard", "eq", "filter", "index", "indexOf", "isdisjoint", "issubset",
    "issuperset", "ne", "not_", "remove", "starmap", "truth",
}  # fmt: skip
"""Functions and methods that ask whether things are the same, or are told so by a function that they are given."""
_HANDED_ON = {
    "compress", "contains", "countOf", "difference", "eq", "fmean", "fsum", "ge", "get_close_matches", "gt", "indexOf",
    "is_", "is_not", "isin", "le", "lt", "ndiff", "ne", "SequenceMatcher", "sub", "truediv", "unified_diff", "xor",
}  # fmt: skip
"""What compares or reckons by its name alone, handed to another (`map(operator.eq, got, WANT)`) or called."""
_ASSIGNING = ast.Assign | ast.AnnAssign | ast.AugAssign
_COUNTING = ast.For | ast.If | ast.Match
_HOLDING = ast.With | ast.Try
"""What runs what stands in it, once."""
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_OPERATORS = ast.Compare | ast.BinOp | ast.BoolOp | ast.UnaryOp


def verdicts(found: Sequence[Statement], ours: Collection[str] = ()) -> list[Statement]:
    """Return the statements that compare or reckon with what is computed, and all that binds or uses the outcome.

    ours: names that are the grader's in any case; what gives only these a meaning does not count.

    An assignment does so itself or in functions of these that it reaches. A loop or a condition does if it asks whether
    values are the same, counts by a comparison, or reckons with what the student's code returns: one that trains does
    none of these. A call does if it is told such a thing: `results.append(f(2) == 4)`. So does what hands the student's
    code to a class that compares, or to a module of the instructor's: `passed = suite.run(f)`.
    """
    functions = {s.name: s for s in found if s.is_function}
    named = {*functions, *dir(builtins), *(name for s in found if only_imports(s.node) for name in s.binds)}
    comparing = {name for name, s in functions.items() if _compares(ast.walk(s.node)) or _differs(s.node)}
    classes = {s.name for s in found if isinstance(s.node, ast.ClassDef) and _compares(ast.walk(s.node))}
    everything = {*dir(builtins), *(name for s in found for name in s.binds)}
    telling = judges(found, classes, everything)
    known = named | {name for s in found if s.gives_data and s.touches <= everything for name in s.binds}
    data = [s for s in found if s.binds and _gives(s) and not s.binds <= set(ours)]
    handed = [s for s in data if s.touches - everything and _calls(s.node, telling)]
    answers = {name for s in data if s.touches - everything for name in s.binds}
    while more := {name for s in data if s.touches & answers for name in s.binds} - answers:
        answers |= more
    reckoned = [s for s in data if (s.touches & comparing) or _reckons(s.node, known) or _tells(s.node, known, answers)]
    names = {name for s in (*handed, *reckoned) for name in s.binds}
    while more := {name for s in data if s.binds & names or s.uses & names for name in s.binds} - names:
        names |= more
    return [s for s in data if s.binds & names]


def _gives(statement: Statement) -> bool:
    """Whether a statement gives data, if need be as attributes of a class: `class Found: right = f(2) == 4`."""
    kinds = _ASSIGNING | _COUNTING | _HOLDING | ast.Expr
    return (statement.gives_data and isinstance(statement.node, kinds)) or isinstance(statement.node, ast.ClassDef)


def _calls(node: ast.stmt, telling: Collection[str]) -> bool:
    """Whether this calls what these names begin, when it is run."""
    return any(isinstance(part, ast.Call) and root_of(part, calls=True) in telling for part in run_at_once(node))


def _reckons(node: ast.stmt, known: Collection[str]) -> bool:
    """Whether this statement does so; known: names of functions and modules that are not the student's."""
    if isinstance(node, ast.ClassDef):
        own = [part for part in node.body if isinstance(part, _ASSIGNING | _COUNTING | _HOLDING)]
        return any(_reckons(part, known) for part in own)
    if any(_refers(part, known) for part in ast.walk(node)):
        return True
    if isinstance(node, _HOLDING):
        handlers = node.handlers if isinstance(node, ast.Try) else []
        known = {*known, *(_held(node) if isinstance(node, ast.With) else ())}
        inside = [*node.body, *(part for handler in handlers for part in handler.body)]
        return any(_reckons(part, known) for part in inside)
    if isinstance(node, _COUNTING):
        if any(isinstance(part, ast.Match) and _asks(part.subject, known) for part in ast.walk(node)):
            return True
        counts = any(map(_counts, ast.walk(node)))
        if _compares(ast.walk(node), alike=not counts):
            return True
        return any(_tells(part, known) for part in ast.walk(node))
    if isinstance(node, ast.Expr):
        return _tells(node, known)
    return any(_is_reckoning(part, known) for part in _outside_of_answers(node, known))


def _refers(part: ast.AST, known: Collection[str]) -> bool:
    """Whether this names a function of a library that compares, called here or by another."""
    if isinstance(part, ast.Attribute):
        return part.attr in _HANDED_ON and root_of(part) in known
    return isinstance(part, ast.Name) and part.id in _HANDED_ON & set(known)


def _tells(part: ast.AST, known: Collection[str], answers: Collection[str] = ()) -> bool:
    """Whether this asks how far what the student's code returns is off, or adds it up, or hands on how far it is.

    answers: names of what it has returned, if what is told of these counts.
    """
    if isinstance(part, ast.Compare):
        return any(_is_reckoned(side, known) for side in (part.left, *part.comparators))
    if isinstance(part, ast.AugAssign):
        return _is_reckoned(part.value, known, answers)
    if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
        reckoned = (_is_reckoned(value, known, answers) for value in _handed(part.value))
        return _matches(part.value, known, answers) or any(reckoned)
    return False


def _is_reckoned(value: ast.expr, known: Collection[str], answers: Collection[str] = ()) -> bool:
    """Whether an operator or a known function is applied here to what the student's code returns."""
    return any(_is_reckoning(part, known) and _asks(part, known, answers) for part in ast.walk(value))


def _is_reckoning(part: ast.AST, known: Collection[str]) -> bool:
    reckons = isinstance(part, _OPERATORS) or (_is_call(part) and root_of(part, calls=True) in known)
    return reckons or _matches(part, known)


def _matches(part: ast.AST, known: Collection[str], answers: Collection[str] = ()) -> bool:
    """Whether this looks for what the student's code returns, or for something in it: `[f(x) for x in XS].count(6)`."""
    if not isinstance(part, ast.Call):
        return False
    name = getattr(part.func, "attr", getattr(part.func, "id", ""))
    return name in _MATCHING and any(_asks(side, known, answers) for side in (part.func, *_handed(part)))


def _handed(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _held(node: ast.With) -> Iterator[str]:
    """Yield what a `with` calls what it holds open: `with Pool() as pool`."""
    for item in node.items:
        if isinstance(item.optional_vars, ast.Name):
            yield item.optional_vars.id


def _asks(part: ast.AST, known: Collection[str], answers: Collection[str] = ()) -> bool:
    """Whether the student's code is called in this, or what it has returned stands there under one of these names."""
    return any(
        (isinstance(one, ast.Call) and root_of(one, calls=True) not in known)
        or (isinstance(one, ast.Name) and one.id in answers)
        for one in ast.walk(part)
    )


def _outside_of_answers(node: ast.stmt, known: Collection[str]) -> Iterator[ast.AST]:
    """Yield what is run with a statement, but for arguments of the student's code that ask nothing of it."""
    left: list[ast.AST] = [node]
    while left:
        part = left.pop()
        yield part
        handed = isinstance(part, ast.Call) and root_of(part, calls=True) in known
        kinds = ast.FunctionDef | ast.AsyncFunctionDef if handed else _FUNCTIONS
        parts = [child for child in ast.iter_child_nodes(part) if not isinstance(child, kinds)]
        if isinstance(part, ast.Call) and not handed:
            parts = [child for child in parts if child is part.func or _asks(child, known)]
        left += parts


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


def _differs(function: ast.stmt) -> bool:
    """Whether a function reckons with what it has called: `f(x) - y`, `match f(x)`, `want.remove(f(x))`."""
    for part in ast.walk(function):
        sides: list[ast.expr] = []
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub | ast.Div | ast.BitXor):
            sides = [side for side in (part.left, part.right) if isinstance(getattr(side, "func", None), ast.Name)]
        elif isinstance(part, ast.Match):
            sides = [part.subject]
        elif isinstance(part, ast.Attribute) and part.attr in _HANDED_ON:
            return True
        elif isinstance(part, ast.Call) and getattr(part.func, "attr", "") in _MATCHING:
            sides = _handed(part)
        if any(isinstance(side, ast.Call) for side in sides):
            return True
    return False


def _is_call(node: ast.AST, words: Sequence[str] = _COMPARING) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return any(part in name for part in words) or (words is _COMPARING and name in _REDUCING)
