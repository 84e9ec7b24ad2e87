"""Makes one check of a test cell false, in a way that looks as its author might have written it.

What is changed must fail for every right answer, however it was computed: a literal on one side of `==` becomes another
one, `==` becomes `!=`, an expected array is shifted far beyond any tolerance. Thresholds (`accuracy > 0.9`) are left
alone, for training twice does not give the same twice. Where nothing can be changed a false check is put in.
"""

from __future__ import annotations

import ast
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.execute.literals import shifted
from autograder.stub import BEGIN_HIDDEN, END_HIDDEN

__all__ = ["falsified"]

_CLOSE = {"allclose", "array_equal", "array_equiv", "isclose"}
_CERTAIN = _CLOSE | {"callable", "hasattr", "isinstance", "issubclass"}
"""Calls that are true once and for all where they are true."""
_HELPERS = {
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
_TRANSPARENT = {"catch_warnings", "object", "open", "patch", "redirect_stderr", "redirect_stdout"}
"""Context managers that let errors out; `object` is that of patch."""
_WORDS = {"equal_nan", "err_msg", "msg", "strict", "verbose"}
"""Arguments of comparisons that are no tolerances."""
_MAGIC = re.compile(r"(\s*)([%!?]|[\w.]+\?{1,2}\s*$|[\w., ]+=\s*[%!])")
"""A line that IPython reads, and Python cannot."""
_LOOSE = 0.5
"""A larger tolerance may reach any value."""
_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_REPORTED = {"equal": "{0}, {1}", "close": "{0}.0, {1}.0", "at_least": "{0}, {1}", "at_most": "{1}, {0}"}
"""Checks of labkit, and arguments with which each must fail, the first number being the smaller one."""


@dataclass(frozen=True)
class _Change:
    """Another text for a part of the source."""

    node: ast.expr | ast.stmt
    text: str
    literal: bool
    """Whether a literal became another one: nothing tells such a check from a true one but knowing the answer."""
    end: ast.expr | ast.stmt | None = None
    """The last node that is replaced, where that is not the first."""


def falsified(source: str) -> tuple[str, str, str]:
    """Return a test cell with a false check, how a kernel tells that it failed, and for `value` what it must say.

    `error`: the cell must end in an error. `value`: its last value must be this one. `report`: one of the cases that
    it reports must have failed.
    """
    source = source.replace("\r\n", "\n")
    statements = _statements(source)
    last = statements[-1] if statements else None
    if (
        isinstance(last, ast.Expr)
        and _called(last.value) == "score"
        and source[_offset(source, last) :][:6] == "check."
    ):
        return _with_case(source, statements), "report", ""
    if isinstance(last, ast.Expr) and not _a_check(last) and not source.rstrip().endswith(";"):
        return _with_value(source, statements)
    changes = [change for statement in statements for change in _of_statement(source, statement)]
    if not changes:
        return _insert(source, statements, _false_assert()), "error", ""
    return _replace(source, _chosen(changes, _hidden_lines(source))), "error", ""


def _chosen(changes: list[_Change], hidden: set[int]) -> _Change:
    """Return one at random of those that are hardest to tell from a true check; of the helpers' every other time."""
    helpers = [change for change in changes if change.end is not None]
    if helpers and secrets.randbelow(2):
        changes = helpers
    ranks = [(change.literal, change.node.lineno in hidden) for change in changes]
    return secrets.choice([change for change, rank in zip(changes, ranks, strict=True) if rank == max(ranks)])


# ------------------------------------------------------------------------------------------------------- what to change
def _of_statement(source: str, statement: ast.stmt) -> Iterator[_Change]:
    if isinstance(statement, ast.Assert):
        yield from _of_condition(source, statement.test)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _of_helper(statement.value)
    elif isinstance(statement, ast.Try) and statement.handlers:
        yield from _of_expected_error(statement)
    elif isinstance(statement, ast.Try | ast.With | ast.For) and _runs_through(statement):
        for inner in statement.body:
            yield from _of_statement(source, inner)


def _of_expected_error(statement: ast.Try) -> Iterator[_Change]:
    """Let the error out that a test waits for: `except ValueError: pass`, and otherwise it raises."""
    last = [*statement.body, *statement.orelse][-1]
    handler = statement.handlers[0].body
    if isinstance(last, ast.Raise) and len(statement.handlers) == 1 and isinstance(handler[0], ast.Pass):
        yield _Change(handler[0], "raise", literal=True)


def _runs_through(statement: ast.Try | ast.With | ast.For) -> bool:
    """Whether the body runs, each of its statements, and every error in it ends the cell."""
    if isinstance(statement, ast.With):
        return all(_called(item.context_expr) in _TRANSPARENT for item in statement.items)
    if isinstance(statement, ast.For):
        plain = all(isinstance(inner, ast.Assert | ast.Assign | ast.Expr) for inner in statement.body)
        return plain and isinstance(statement.iter, ast.List | ast.Tuple) and bool(statement.iter.elts)
    return True


def _of_condition(source: str, test: ast.expr) -> Iterator[_Change]:
    """Yield ways to make a true condition false."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _of_condition(source, value)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _of_comparison(source, test)
    elif isinstance(test, ast.Call) and _called(test) in _CERTAIN:
        found = list(_of_literals(test.args[:2], far=True)) if _called(test) in _CLOSE and _tight(test) else []
        if found or _called(test) not in _CLOSE or not _tolerances(test):
            yield from found or [_Change(test, f"not {_text(source, test)}", literal=False)]
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _called(test.operand) in _CERTAIN:
        yield _Change(test, _text(source, test.operand), literal=False)


def _of_comparison(source: str, test: ast.Compare) -> Iterator[_Change]:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(operator, ast.Eq) and (found := list(_of_literals([left, right], far=False))):
        yield from found
    elif type(operator) in _OPPOSITE:
        text = f"{_text(source, left)} {_OPPOSITE[type(operator)]} {_text(source, right)}"
        yield _Change(test, text, literal=False)
    elif isinstance(operator, ast.Lt | ast.LtE) and _called(left) in {"abs", "fabs"}:
        difference = left.args[0] if isinstance(left, ast.Call) and left.args else None
        tight = isinstance(right, ast.Constant) and isinstance(right.value, int | float) and right.value <= _LOOSE
        if tight and isinstance(difference, ast.BinOp) and isinstance(difference.op, ast.Sub):
            yield from _of_literals([difference.left, difference.right], far=True)


def _of_helper(call: ast.Call) -> Iterator[_Change]:
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if _called(call) in _HELPERS and len(call.args) >= 2 and not starred and _tight(call):
        found = next(_of_literals(call.args[:2], far=True), None)
        small = secrets.randbelow(40) + 2
        yield _Change(
            found.node if found else call.args[0],
            found.text if found else f"{small}.5, {7 * small + 60}.25",
            literal=found is not None,
            end=found.node if found else call.args[1],
        )


def _tolerances(call: ast.Call) -> list[ast.expr]:
    return [*call.args[2:], *(keyword.value for keyword in call.keywords if keyword.arg not in _WORDS)]


def _tight(call: ast.Call) -> bool:
    """Whether no tolerance of this comparison can reach a value far off; whole numbers are places behind the point."""
    found = [node.value if isinstance(node, ast.Constant) else None for node in _tolerances(call)]
    places = "almost" in _called(call).lower() or "approx" in _called(call)
    return all(isinstance(t, int) if places else isinstance(t, int | float) and t <= _LOOSE for t in found)


def _of_literals(nodes: list[ast.expr], *, far: bool) -> Iterator[_Change]:
    for node in nodes:
        if found := shifted(node, far=far):
            yield _Change(found[0], found[1], literal=True)


def _a_check(statement: ast.Expr) -> bool:
    """Whether this ends a cell without a value: a helper, or a print."""
    return _called(statement.value) in {*_HELPERS, "print", "raises", "display", "show"}


def _called(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


# ------------------------------------------------------------------------------------------------------- what to put in
def _false_assert() -> str:
    left, right = (secrets.randbelow(900) + 100 for _ in range(2))
    return f"assert {left} * {right} == {left * right + 1 + secrets.randbelow(9)}"


def _with_value(source: str, statements: list[ast.stmt]) -> tuple[str, str, str]:
    """Let the cell end in one value if a false assertion passes, and in another if it fails."""
    name, low, step = (f"points_{secrets.token_hex(2)}", secrets.randbelow(90) + 10, secrets.randbelow(8) + 1)
    last = statements[-1]
    assert isinstance(last, ast.Expr)
    ended = _replace(source, _Change(last.value, name, literal=False))
    trial = f"{name} = {low}\ntry:\n    {_false_assert()}\n    {name} = {low + step}\nexcept AssertionError:\n    pass"
    if last.lineno > 1 and not any(s.lineno <= last.lineno <= (s.end_lineno or 0) for s in statements[:-1]):
        return _insert(ended, statements[:-1], trial, at_most=last.lineno - 1), "value", str(low)
    return _insert(source, statements[:-1], _false_assert(), at_most=0), "error", ""


def _with_case(source: str, statements: list[ast.stmt]) -> str:
    """Put a case that must fail before the score."""
    used = {_called(node) for s in statements for node in ast.walk(s) if isinstance(node, ast.Call)} & set(_REPORTED)
    first = secrets.randbelow(50) + 2
    name = secrets.choice(sorted(used) or ["equal"])
    arguments = _REPORTED[name].format(first, first + 1 + secrets.randbelow(50))
    case = f'with check.case("one more"):\n    check.{name}({arguments})'
    lines = source.split("\n")
    place = statements[-1].lineno - 1
    return "\n".join([*lines[:place], case, *lines[place:]])


def _insert(source: str, statements: list[ast.stmt], text: str, at_most: int | None = None) -> str:
    """Put a statement below one of these, or at the end."""
    lines = source.split("\n")
    ends = [statement.end_lineno or 0 for statement in statements if statement.col_offset == 0]
    starts = [statement.lineno for statement in statements]
    places = [end for end in ends if ends.count(end) == 1 and starts.count(end) <= 1]
    place = secrets.choice(places) if places else (len(lines) if at_most is None else at_most)
    return "\n".join([*lines[:place], text, *lines[place:]])


# ------------------------------------------------------------------------------------------------------------- the text
def _statements(source: str) -> list[ast.stmt]:
    """Return the statements at the top; none of a cell that is no Python. Lines of IPython count as `pass`."""
    lines = source.split("\n")
    masked = [f"{found[1]}pass" if (found := _MAGIC.match(line)) else line for line in lines]
    try:
        return ast.parse("\n".join(masked)).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def _hidden_lines(source: str) -> set[int]:
    found, hidden = set(), False
    for number, line in enumerate(source.split("\n"), 1):
        hidden = (hidden or line.strip() == BEGIN_HIDDEN) and line.strip() != END_HIDDEN
        if hidden:
            found.add(number)
    return found


def _text(source: str, node: ast.AST) -> str:
    return ast.get_source_segment(source, node) or ast.unparse(node)


def _offset(source: str, node: ast.AST, *, end: bool = False) -> int:
    """Return where a node begins, or ends, in characters; ast counts the bytes of a line."""
    line = getattr(node, "end_lineno" if end else "lineno")
    column = getattr(node, "end_col_offset" if end else "col_offset")
    lines = source.split("\n")
    return sum(len(text) + 1 for text in lines[: line - 1]) + len(lines[line - 1].encode()[:column].decode())


def _replace(source: str, change: _Change) -> str:
    end = _offset(source, change.end or change.node, end=True)
    return source[: _offset(source, change.node)] + change.text + source[end:]
