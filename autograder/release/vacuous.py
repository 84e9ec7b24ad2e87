"""Finds checks of a test cell that an empty answer satisfies: what holds for every element holds for none, too."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

__all__ = ["EVERY", "NONE", "Vacuous", "called", "condition_of", "expects", "parts_of", "vacuous_checks", "wholes"]

EVERY = {"all", "alltrue"}
NONE = {"any", "sometrue", "count_nonzero"}
_BROADCAST = {"allclose"}
_SIZES = {"shape", "size", "numel", "nelement", "ndim"}
_SIZED_BY = {"shape", "close", "equal", "array_equal", "assert_array_equal", "assert_equal", "assertEqual"}
"""Calls that compare the shape, or the length, of their first arguments as well."""
_SHOWS_SIZE = {"len", "shape", "size"}
_KEEPS_SIZE = {"sorted", "list", "tuple", "set", "dict", "Counter", "reversed", "enumerate"}
"""Calls of whose result the size says something of the size of the argument, if only that there was something."""
_EXPECTATIONS = {"true", "equal", "close", "shape", "at_least", "at_most", "raises", "unchanged", "gradient", "calls"}


@dataclass(frozen=True)
class Vacuous:
    """One such check: its line in the cell, what is wrong, and how to say it instead."""

    line: int
    problem: str
    hint: str


def vacuous_checks(tree: ast.Module, students: Collection[str]) -> Iterator[Vacuous]:
    """Yield the checks that an empty array, an empty list or an object of another size satisfies.

    students: names that are the students'. What is computed from them is theirs as well. A check is left alone if the
    same cell compares the shape or the length of what it is about.
    """
    theirs = _Theirs(tree, students)
    for node in ast.walk(tree):
        found = _of_condition(node, theirs)
        if found:
            yield found


class _Theirs:
    """What a test cell holds of the students': their names, and those that the cell gives to what came from them."""

    def __init__(self, tree: ast.Module, students: Collection[str]) -> None:
        self._names = set(students)
        before = -1
        while before != len(self._names):  # a name that is assigned further down may be used further up, in a loop
            before = len(self._names)
            for node in ast.walk(tree):
                self._names.update(_given(node, self))
        self._sized = {text for node in ast.walk(tree) for text in _sized(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and any(text in self._sized for text in _wholes(node.value)):
                self._sized.update(target.id for target in node.targets if isinstance(target, ast.Name))

    def holds(self, node: ast.AST) -> bool:
        """Whether a value may have any size that a student gave it."""
        if isinstance(node, ast.Call) and called(node) in {
            "len",
            "range",
            "isinstance",
            "float",
            "int",
            "type",
            "hasattr",
        }:
            return False
        if isinstance(node, ast.Attribute) and node.attr in _SIZES:
            return False
        if isinstance(node, ast.Name):
            return node.id in self._names
        return any(self.holds(child) for child in ast.iter_child_nodes(node))

    def sized(self, node: ast.AST) -> bool:
        """Whether the size of something in this expression is compared elsewhere in the cell."""
        parts = {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.expr) and self.holds(part)}
        return bool(parts & self._sized)

    def open(self, node: ast.AST) -> bool:
        return self.holds(node) and not self.sized(node)


def _given(node: ast.AST, theirs: _Theirs) -> Iterator[str]:
    """Yield the names that get something of the students' here."""
    pairs: list[tuple[ast.AST, ast.AST]] = []
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.With):
        pairs = [(item.optional_vars, item.context_expr) for item in node.items if item.optional_vars is not None]
    for target, value in pairs:
        if theirs.holds(value):
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _sized(node: ast.AST) -> Iterator[str]:
    """Yield the text of that whose size is compared here."""
    if isinstance(node, ast.Attribute) and node.attr in _SIZES:
        yield ast.unparse(node.value)
    elif isinstance(node, ast.Call) and node.args and called(node) in _SHOWS_SIZE:
        yield ast.unparse(node.args[0])
    if isinstance(node, ast.Call) and called(node) in _SIZED_BY:
        for argument in node.args[:2]:
            yield from _wholes(argument)
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            if isinstance(other, ast.List | ast.Tuple | ast.Dict | ast.Set):  # an array's == would stretch a number
                yield from _wholes(side)


def _wholes(node: ast.expr) -> Iterator[str]:
    return map(ast.unparse, wholes(node))


def wholes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression and what it goes through from one end to the other."""
    yield node
    if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
        yield from wholes(node.generators[0].iter)
    elif isinstance(node, ast.Call) and node.args and called(node) in _KEEPS_SIZE:
        yield from wholes(node.args[0])


# -------------------------------------------------------------------------------------------------------- the patterns
def _of_condition(node: ast.AST, theirs: _Theirs) -> Vacuous | None:
    condition = condition_of(node)
    if condition is None:
        return None
    for part, negated in parts_of(condition):
        if found := _of_call(part, theirs, negated=negated):
            return found
    return None


def condition_of(node: ast.AST) -> ast.expr | None:
    """Return what must be true here: of an assertion, or of check.true."""
    if isinstance(node, ast.Assert):
        return node.test
    if isinstance(node, ast.Call) and called(node) == "true" and node.args and _of_check(node):
        return node.args[0]
    return None


def parts_of(condition: ast.expr, *, negated: bool = False) -> Iterator[tuple[ast.Call, bool]]:
    """Yield the calls that a condition consists of, and whether they must be false."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.Or if negated else ast.And):
        for value in condition.values:
            yield from parts_of(value, negated=negated)
    elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not | ast.Invert):
        yield from parts_of(condition.operand, negated=not negated)
    elif isinstance(condition, ast.Compare) and _is_zero(condition.comparators[0]) and len(condition.ops) == 1:
        if isinstance(condition.left, ast.Call) and isinstance(condition.ops[0], ast.Eq):
            yield condition.left, True
    elif isinstance(condition, ast.Call):
        if called(condition) in {"bool", "item"}:
            inner = condition.args[0] if condition.args else getattr(condition.func, "value", None)
            if inner is not None:
                yield from parts_of(inner, negated=negated)
        else:
            yield condition, negated


def _of_call(call: ast.Call, theirs: _Theirs, *, negated: bool) -> Vacuous | None:
    name = called(call)
    about = _about(call)
    if about is None:
        return None
    if not negated and name in _BROADCAST and len(call.args) > 1:
        if any(theirs.holds(argument) for argument in call.args[:2]) and not theirs.sized(call):
            return Vacuous(
                call.lineno,
                f"{name} stretches shapes to fit: an empty array, or one of another shape, may be close to anything",
                "use check.close, which compares the shape first, or compare .shape above it",
            )
    elif name in (NONE if negated else EVERY) and _ranges_over(about, theirs):
        said = f"nothing of it holds ({name})" if negated else f"all of it holds ({name})"
        return Vacuous(
            call.lineno,
            f"an empty answer passes: of no elements {said}",
            "compare its length or shape above it: check.equal(len(...), n), check.shape(...), or the whole at once",
        )
    return None


def _about(call: ast.Call) -> ast.expr | None:
    """Return what a call reduces: its first argument, or what its method belongs to."""
    if call.args:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _ranges_over(node: ast.expr, theirs: _Theirs) -> bool:
    """Whether how many elements there are is up to the student."""
    if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        return any(_runs_short(generator.iter, theirs) for generator in node.generators)
    if isinstance(node, ast.List | ast.Tuple):
        return False
    if isinstance(node, ast.Call) and called(node) in {"map", "filter"}:
        return any(_runs_short(argument, theirs) for argument in node.args[1:])
    return theirs.open(node)


def _runs_short(over: ast.expr, theirs: _Theirs) -> bool:
    """Whether a loop over this may end too soon: over nothing, or with the shorter of two."""
    if isinstance(over, ast.Call) and called(over) in {"enumerate", "reversed", "sorted", "list", "tuple", "iter"}:
        return bool(over.args) and _runs_short(over.args[0], theirs)
    if isinstance(over, ast.Call) and called(over) == "zip":
        strict = any(
            k.arg == "strict" and isinstance(k.value, ast.Constant) and k.value.value is True for k in over.keywords
        )
        return not strict and any(_runs_short(argument, theirs) for argument in over.args)
    if isinstance(over, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return False
    if (
        isinstance(over, ast.Call)
        and called(over) in {"items", "values", "keys"}
        and isinstance(over.func, ast.Attribute)
    ):
        return theirs.open(over.func.value)
    return theirs.open(over)


def expects(node: ast.AST) -> bool:
    """Whether this is an assertion or a call of check that fails a case."""
    return isinstance(node, ast.Assert) or (
        isinstance(node, ast.Call) and called(node) in _EXPECTATIONS and _of_check(node)
    )


def _of_check(call: ast.Call) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id == "check"


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 0


def called(node: ast.AST) -> str:
    """Return the last part of the name of what is called here."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
