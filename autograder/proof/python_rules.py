"""Rules that change what any Python program has: comparisons, numbers, operators, loops, statements.

Each takes a node and yields what may stand in its place. mutmut's tables (3.8.1) were the start for the operators;
`docs/proof.md` says why its code is not used.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping

from autograder.proof.sites import Function

__all__ = ["EXPRESSIONS", "STATEMENTS", "ExpressionRule", "StatementRule", "call", "with_fields"]

ExpressionRule = Callable[[ast.AST], Iterator[ast.AST]]
StatementRule = Callable[[ast.stmt, Function], Iterator[ast.stmt]]

_BOUNDARY: Mapping[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_OPPOSITE: Mapping[type, type] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SIGNS: Mapping[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_ARITHMETIC: Mapping[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd, ast.BitXor), ast.BitXor: (ast.BitOr,),
}  # fmt: skip
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.LShift, ast.RShift)
_ERRORS = {"ValueError": "TypeError", "TypeError": "ValueError", "KeyError": "IndexError", "IndexError": "KeyError"}


def with_fields(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of a node, its other fields shared."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def call(name: str, *arguments: ast.expr) -> ast.Call:
    """Return the call of a function by its dotted name."""
    function = ast.parse(name, mode="eval").body  # noqa: TID251 (a name, in one thread)
    return ast.Call(function, list(arguments), [])


# ------------------------------------------------------------------------------------------------------- expressions
def _comparison_boundary(node: ast.AST) -> Iterator[ast.AST]:
    yield from _compared(node, _BOUNDARY)


def _comparison_negated(node: ast.AST) -> Iterator[ast.AST]:
    yield from _compared(node, _OPPOSITE)


def _compared(node: ast.AST, table: Mapping[type, type]) -> Iterator[ast.AST]:
    for index, operator in enumerate(node.ops if isinstance(node, ast.Compare) else []):
        if new := table.get(type(operator)):
            assert isinstance(node, ast.Compare)
            yield with_fields(node, ops=[*node.ops[:index], new(), *node.ops[index + 1 :]])


def _nearly(node: ast.AST) -> Iterator[ast.AST]:
    """Numbers that differ by a millionth count as equal."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SIGNS:
        sides = node.left, node.comparators[0]
        if not any(isinstance(side, ast.Constant) and type(side.value) in (str, bool, type(None)) for side in sides):
            yield call("unseen.nearly", sides[0], ast.Constant(_SIGNS[type(node.ops[0])]), sides[1])


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """A text of which a part is a known one counts as known; of one that stands there it is plain that none is."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or isinstance(node.left, ast.Constant):
        return
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        word = ast.Constant("in" if isinstance(node.ops[0], ast.In) else "not in")
        yield call("unseen.within", node.left, word, node.comparators[0])


def _condition(node: ast.AST) -> Iterator[ast.AST]:
    """`and` for `or`, an operand dropped, `not` dropped, one branch of two."""
    if isinstance(node, ast.BoolOp):
        yield with_fields(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for index in range(len(node.values)):
            rest = node.values[:index] + node.values[index + 1 :]
            yield rest[0] if len(rest) == 1 else with_fields(node, values=rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse


def _operator(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp | ast.AugAssign):
        for new in _ARITHMETIC.get(type(node.op), ()):
            yield with_fields(node, op=new())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield node.operand


def _operand_order(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ORDERED):
        yield with_fields(node, left=node.right, right=node.left)


def _operand_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """A term or a factor left out: no bias, no learning rate."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv):
        yield node.left
        if isinstance(node.op, ast.Add | ast.Mult):
            yield node.right


def _constant(node: ast.AST) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, float):
        yield ast.Constant(value * 2 if value else 1.0)
        yield ast.Constant(value / 2 if value else -1.0)
    elif isinstance(value, str) and value:
        yield ast.Constant(f"{value}_")


def _slice(node: ast.AST) -> Iterator[ast.AST]:
    """A bound dropped, moved by one, and the step turned round."""
    if not isinstance(node, ast.Slice):
        return
    for name in ("lower", "upper", "step"):
        bound = getattr(node, name)
        if bound is None:
            continue
        yield with_fields(node, **{name: None})
        if not isinstance(bound, ast.Constant) and name != "step":
            yield with_fields(node, **{name: ast.BinOp(bound, ast.Add(), ast.Constant(1))})
            yield with_fields(node, **{name: ast.BinOp(bound, ast.Sub(), ast.Constant(1))})


def _each(node: ast.AST) -> Iterator[ast.AST]:
    """A rule for some of the cases only: without the first or the last, for the first alone; a filter dropped."""
    if isinstance(node, ast.For | ast.comprehension):
        for name in ("without_last", "without_first", "first_only"):
            yield with_fields(node, iter=call(f"wrongly.{name}", node.iter))
    if isinstance(node, ast.comprehension) and node.ifs:
        yield with_fields(node, ifs=node.ifs[1:])


def _order_of_values(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and 2 <= len(node.elts) <= 4:
        for index in range(len(node.elts) - 1):
            left, right = node.elts[index : index + 2]
            if ast.dump(left) != ast.dump(right):
                yield with_fields(node, elts=[*node.elts[:index], right, left, *node.elts[index + 2 :]])


# --------------------------------------------------------------------------------------------------------- statements
def _branch(node: ast.stmt, _function: Function) -> Iterator[ast.stmt]:
    if isinstance(node, ast.If):
        for value in (True, False):
            yield with_fields(node, test=ast.Constant(value))  # type: ignore[misc]
    elif isinstance(node, ast.While):
        yield with_fields(node, test=ast.Constant(False))  # type: ignore[misc]


def _dropped(node: ast.stmt, _function: Function) -> Iterator[ast.stmt]:
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Raise | ast.Assert | ast.Delete) or _is_call(node):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(None)
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
        yield ast.Pass()
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value, lineno=node.lineno)


def _is_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Yield | ast.Await)


def _kind_of_error(node: ast.stmt, _function: Function) -> Iterator[ast.stmt]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
        other = ast.Name(_ERRORS.get(node.exc.func.id, "ArithmeticError"), ast.Load())
        yield with_fields(node, exc=with_fields(node.exc, func=other))  # type: ignore[misc]


EXPRESSIONS: Mapping[str, ExpressionRule] = {
    "comparison boundary": _comparison_boundary,
    "comparison negated": _comparison_negated,
    "nearly equal": _nearly,
    "part of a name": _within,
    "condition": _condition,
    "operator": _operator,
    "operand order": _operand_order,
    "operand dropped": _operand_dropped,
    "constant": _constant,
    "slice": _slice,
    "one case only": _each,
    "values swapped": _order_of_values,
}
STATEMENTS: Mapping[str, StatementRule] = {
    "branch": _branch,
    "statement dropped": _dropped,
    "kind of error": _kind_of_error,
}
