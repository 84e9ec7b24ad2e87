"""The ways in which a check of a test cell can be made false, as changes of its text.

What is changed must fail for every right answer, however it was computed: a literal becomes one near it that no
tolerance reaches, a type another one, `==` becomes `!=`. Thresholds (`accuracy > 0.9`) are left alone, for training
twice does not give the same twice; next to one stands its contradiction.
"""

from __future__ import annotations

import ast
import secrets
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from autograder.boundary.parsing import syntax_tree
from autograder.execution.change import Change, of_expected_error
from autograder.execution.flow import (
    difference_in,
    is_plain,
    neighbours,
    opposite_of,
    raises_if,
    runs_through,
    straight,
    title_of,
    wanted,
)
from autograder.execution.gathered import each_of, lists_of, none_of
from autograder.execution.literals import EXACT, Reach, another_type, constants_of, literals_of, shifted
from autograder.execution.made import compared_whole, made_otherwise
from autograder.execution.syntax import called, offset, segment
from autograder.execution.tolerance import reach_of

__all__ = ["HELPERS", "Changes"]

_CLOSE = {"allclose", "array_equal", "array_equiv", "isclose"}
_CERTAIN = _CLOSE | {"callable", "hasattr", "isinstance", "issubclass"}
"""Calls that are true once and for all where they are true."""
HELPERS = {
    "assert_allclose",
    "assert_almost_equal",
    "assert_approx_equal",
    "assert_array_almost_equal",
    "assert_array_equal",
    "assert_close",
    "assert_equal",
    "assertAlmostEqual",
    "assertEqual",
}
"""Helpers of numpy.testing, torch.testing and unittest that compare their first two arguments."""
_ENDLESS = ("inf", "nan", "Inf", "NaN")
_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_MIRRORED: dict[type[ast.cmpop], tuple[str, int]] = {
    ast.Gt: ("<", -1), ast.GtE: ("<", -1), ast.Lt: (">", 1), ast.LtE: (">", 1)
}  # fmt: skip


class Changes:
    """The ways in which the statements of one cell can be made false."""

    def __init__(self, source: str, statements: Sequence[ast.stmt], whole: Collection[str] = ()) -> None:
        """whole: names of classes whose objects are equal only if all that they hold is."""
        self._source = source
        self._whole = {*whole, *compared_whole(statements)}
        self._others = [value for statement in statements for value in literals_of(statement)]
        calls = [s.value.func for s in statements if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
        self._beside_it = neighbours(statements)
        self._lists = lists_of(statements)
        self._called = {function.id for function in calls if isinstance(function, ast.Name)}

    def of(self, statements: Sequence[ast.stmt]) -> Iterator[Change]:
        return (change for statement in statements for change in self._of_statement(statement))

    def in_cases(self, statements: Sequence[ast.stmt]) -> Iterator[Change]:
        """Yield changes that make a case of a title of its own fail."""
        titled = [(title_of(statement), statement) for statement in statements]
        titles = [title for title, _ in titled]
        for title, statement in titled:
            if title and titles.count(title) == 1 and isinstance(statement, ast.With):
                for inner in statement.body:
                    for change in self._of_case(inner):
                        yield Change(change.node, change.text, change.literal, title)

    def _of_case(self, statement: ast.stmt) -> Iterator[Change]:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call):
            yield from self._of_statement(statement)
        elif called(call) in {"equal", "close"} and (reach := _reach(call)):
            yield from self._of_literals(call.args[:2], reach)
        elif called(call) == "true" and call.args:
            yield from self._of_condition(call.args[0])

    def _of_statement(self, statement: ast.stmt) -> Iterator[Change]:
        if isinstance(statement, ast.Assert):
            yield from self._of_condition(statement.test)
            yield from self._contradicted(statement)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield from self._of_helper(statement.value)
        elif isinstance(statement, ast.If) and raises_if(statement):
            yield from self._of_refusal(statement.test)
        elif isinstance(statement, ast.Try) and statement.handlers:
            yield from of_expected_error(statement)
        elif isinstance(statement, ast.FunctionDef) and statement.name in self._called and straight(statement):
            yield from self.of(statement.body)
        elif isinstance(statement, ast.Try | ast.With | ast.For) and runs_through(statement):
            yield from self.of(statement.body)
            if isinstance(statement, ast.For):
                yield from self._of_table(statement)

    def _of_refusal(self, test: ast.expr) -> Iterator[Change]:
        """Yield ways to make true what is false: `if found != wanted: raise AssertionError`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._of_condition(test.operand)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            for value in test.values:
                yield from self._of_refusal(value)
        elif (holds := opposite_of(test)) is not None:
            for change in self._of_comparison(holds):
                yield replace(change, text=f"not ({change.text})") if change.node is holds else change

    def _of_condition(self, test: ast.expr) -> Iterator[Change]:
        """Yield ways to make a true condition false."""
        if (each := each_of(test)) is not None:
            yield from self._of_condition(each)
        elif (none := none_of(test, self._lists)) is not None:
            yield from self._of_inequality(none)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            yield from self._of_all(test)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for value in test.values:
                yield from self._of_condition(value)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            yield from self._of_comparison(test)
        elif isinstance(test, ast.Call) and called(test) in _CLOSE:
            if test.args and not isinstance(test.args[0], ast.Starred) and (reach := _reach(test)):
                yield from list(self._of_literals(test.args[:2], reach)) or [self._pushed(test, reach)]
        elif isinstance(test, ast.Call) and called(test) in _CERTAIN:
            yield self._another_type(test) or Change(test, f"not {segment(self._source, test)}", literal=False)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and called(test.operand) in _CERTAIN:
            yield Change(test, segment(self._source, test.operand), literal=False)

    def _of_all(self, test: ast.BoolOp) -> Iterator[Change]:
        """Yield a change of every operand of an `or`: one that was left would make it true.

        Of what is compared with, for that an operand is false does not make its opposite false.
        """
        changes = (self._of_condition(value) for value in test.values)
        found = [[c for c in some if not isinstance(c.node, ast.Compare) and _is_another(c, test)] for some in changes]
        if all(found):
            start, text = offset(self._source, test), segment(self._source, test)
            for change in map(secrets.choice, reversed(found)):
                begin, end = (offset(self._source, change.node, end=last) - start for last in (False, True))
                text = text[:begin] + change.text + text[end:]
            yield Change(test, text, literal=False)

    def _of_inequality(self, test: ast.Compare) -> Iterator[Change]:
        """Yield changes that make `!=` true where it was false: of what a value is compared with."""
        if len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq):
            found = list(self._of_literals([test.left, test.comparators[0]], EXACT))
            yield from found or [self._moved(test.comparators[0], EXACT)]

    def _of_comparison(self, test: ast.Compare) -> Iterator[Change]:
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        equal = isinstance(operator, ast.Eq)
        if equal and (found := self._of_difference(test) or self._of_sides(test)):
            yield from found
        elif type(operator) in _OPPOSITE:
            texts = segment(self._source, left), segment(self._source, right)
            yield Change(test, f"{texts[0]} {_OPPOSITE[type(operator)]} {texts[1]}", literal=False)
            finite = not any(word in texts[1] for word in _ENDLESS)
            if equal and finite and isinstance(right, ast.Call | ast.BinOp | ast.Name):
                yield Change(right, f"{texts[1]} + {secrets.randbelow(3) + 1}", literal=False)
                yield Change(right, f"[{texts[1]}, {secrets.randbelow(9)}]", literal=False)
        elif isinstance(operator, ast.Lt | ast.LtE):
            yield from self._of_difference(test)

    def _of_sides(self, test: ast.Compare) -> list[Change]:
        """Return changes of what is compared for equality: of literals, and of arguments of an object made there."""
        left, right = test.left, test.comparators[0]
        found = [*self._of_literals([left, right], EXACT), *self._of_approximate(left, right)]
        if not found and isinstance(right, ast.Call):
            found = self._of_made(right)
        other = self._another(right) if not found else ""
        # What agrees with everything agrees with the other, too; by `!=` alone it would have a say of its own. And the
        # other counts only where it is not the right one.
        text = f"{segment(self._source, left)} == {other} != {segment(self._source, right)}"
        return [Change(test, text, literal=False)] if other else found

    def _of_made(self, call: ast.expr) -> list[Change]:
        """Return a change of an object that is equal only to what holds the same."""
        other = made_otherwise(call) if isinstance(call, ast.Call) and called(call) in self._whole else None
        return [Change(other[0], other[1], literal=True)] if other else []

    def _another(self, node: ast.expr) -> str:
        """Return the text of another object than this: made of other literals, another attribute; empty if none is."""
        own = segment(self._source, node)
        if isinstance(node, ast.Call) and (other := made_otherwise(node)):
            start = offset(self._source, node)
            begin, end = (offset(self._source, other[0], end=last) - start for last in (False, True))
            return own[:begin] + other[1] + own[end:]
        beside = sorted(self._beside_it.get(own, ()))
        return secrets.choice(beside) if beside else ""

    def _of_difference(self, test: ast.Compare) -> list[Change]:
        """Return changes of `abs(f(x) - y) < tol` and `simplify(f(x) - y) == 0`: of y, farther than the tolerance."""
        right = test.comparators[0]
        size = right.value if isinstance(right, ast.Constant) and isinstance(right.value, int | float) else -1
        equal = isinstance(test.ops[0], ast.Eq)
        difference = difference_in(test.left, signed=equal)
        if difference is None or not (size == 0 if equal else 0 <= float(size) <= 0.5):
            return []
        reach = Reach(absolute=float(size))
        found = list(self._of_literals([difference.left, difference.right], reach))
        moved = self._moved(difference.right, reach)
        return found or [replace(moved, text=f"({moved.text})")]

    def _of_approximate(self, left: ast.expr, right: ast.expr) -> Iterator[Change]:
        """Yield changes of `== pytest.approx(0.3)`."""
        for node in (left, right):
            if isinstance(node, ast.Call) and called(node) == "approx" and node.args and (reach := _reach(node)):
                yield from self._of_literals(node.args[:1], reach)

    def _of_helper(self, call: ast.Call) -> Iterator[Change]:
        starred = any(isinstance(argument, ast.Starred) for argument in call.args)
        if called(call) in HELPERS and len(call.args) >= 2 and not starred and (reach := _reach(call)):
            made = self._of_made(call.args[1]) if called(call) in {"assertEqual", "assert_equal"} else []
            yield from list(self._of_literals(call.args[:2], reach)) or made or [self._pushed(call, reach)]

    def _pushed(self, call: ast.Call, reach: Reach) -> Change:
        """Move one side of a comparison of two expressions."""
        return self._moved(secrets.choice(call.args[:2]), reach)

    def _moved(self, side: ast.expr, reach: Reach) -> Change:
        """Move what is compared a little, and farther than the tolerance.

        No number is its own image but a crooked one that is drawn again; what is no number is a type error.
        """
        text = segment(self._source, side)
        text = text if isinstance(side, ast.Name | ast.Call | ast.Attribute) else f"({text})"
        factor = 1 + (secrets.randbelow(5) + 1) * max(0.02, 10 * reach.relative)
        summand = (secrets.randbelow(89) + 11) * max(0.001, reach.absolute)
        return Change(side, f"{factor:.6g} * {text} + {summand:.6g}", literal=False)

    def _another_type(self, test: ast.Call) -> Change | None:
        kind = test.args[1] if called(test) == "isinstance" and len(test.args) == 2 else None
        other = another_type(kind.id) if isinstance(kind, ast.Name) else ""
        return Change(kind, other, literal=True) if kind is not None and other else None

    def _contradicted(self, statement: ast.Assert) -> Iterator[Change]:
        """Yield a threshold and, beside it, its opposite: whatever the value is, one of them fails."""
        test = statement.test
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _MIRRORED):
            return
        left, bound = test.left, test.comparators[0]
        if not is_plain(left) or not isinstance(bound, ast.Constant) or type(bound.value) not in {int, float}:
            return
        sign, way = _MIRRORED[type(test.ops[0])]
        drawn = [ast.literal_eval(found[1]) for _ in range(20) if (found := shifted(bound))]
        beyond = next((new for new in drawn if (new - bound.value) * way > 0), bound.value)
        own = segment(self._source, statement)
        pair = [own, f"assert {segment(self._source, left)} {sign} {beyond!r}"]
        alone = self._source.split("\n")[statement.lineno - 1].strip() == own
        between = "\n" + " " * statement.col_offset if alone else "; "
        yield Change(statement, between.join(pair if secrets.randbelow(2) else pair[::-1]), literal=True)

    def _of_table(self, loop: ast.For) -> Iterator[Change]:
        """Yield changes of the expected values in `for n, want in [(1, 1), (2, 4)]`."""
        sides = [node for inner in loop.body for node in wanted(inner)]
        if not isinstance(loop.target, ast.Tuple) or not isinstance(loop.iter, ast.List | ast.Tuple):
            return
        names = [node for inner in loop.body for node in ast.walk(inner) if isinstance(node, ast.Name)]
        uses = Counter(node.id for node in names)
        # A name that is also handed over would change the question with the answer.
        compared = {name for name, times in Counter(node.id for node in sides).items() if times == uses[name]}
        for row in loop.iter.elts:
            for target, value in zip(loop.target.elts, getattr(row, "elts", ()), strict=False):
                if isinstance(target, ast.Name) and target.id in compared:
                    yield from self._of_literals([value], EXACT)

    def _of_literals(self, nodes: Sequence[ast.expr], reach: Reach) -> Iterator[Change]:
        for node in nodes:
            if found := shifted(node, reach=reach, others=self._others):
                yield Change(found[0], found[1], literal=True)


def _reach(call: ast.Call) -> Reach | None:
    return reach_of(call, called(call)) if len(call.args) >= 1 else None


def _is_another(change: Change, test: ast.expr) -> bool:
    """Whether a change is to a constant that the test has nowhere: another side of its `or` would be true."""
    return not (change.literal and constants_of(syntax_tree(f"({change.text})")) & constants_of(test))
