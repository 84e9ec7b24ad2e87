"""Where a solution can be changed: its statements, the expressions in each, the source with another in its place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autograder.boundary.parsing import syntax_tree
from autograder.markers import BEGIN_SOLUTION, END_SOLUTION

__all__ = ["Function", "Site", "Solution", "expressions", "header"]

_NOT_ENTERED = {"body", "orelse", "finalbody", "handlers", "cases", "annotation", "returns", "decorator_list"}
_Named = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Function:
    """A function or method that students write.

    Attributes:
        name: qualified, "MLP.forward".
        parameters: the names of its arguments, in order, `self` included.
    """

    name: str
    node: _Named
    parameters: tuple[str, ...]

    @property
    def method(self) -> bool:
        return "." in self.name and self.parameters[:1] == ("self",)


@dataclass(frozen=True)
class Site:
    """A statement of the solution, and the function that it stands in."""

    statement: ast.stmt
    function: Function


@dataclass(frozen=True)
class Solution:
    """The code cell of a task. What stands in its solution blocks is changed, or all functions if it has none."""

    source: str
    _lines: list[str] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        self._lines.extend(self.source.split("\n"))

    def functions(self) -> Iterator[Function]:
        """Yield the functions and methods that hold a line of the solution; not those that are defined within them."""
        allowed = self._allowed()
        for node, prefix in _definitions(syntax_tree(self.source).body, ""):
            if any(child.lineno in allowed for child in ast.walk(node) if isinstance(child, ast.stmt)):
                arguments = node.args
                names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
                yield Function(prefix + node.name, node, tuple(names))

    def sites(self) -> Iterator[Site]:
        """Yield the statements of the solution, and the heads of its functions, in order."""
        allowed = self._allowed()
        for function in self.functions():
            for statement in _statements(function.node):
                if statement.lineno in allowed or statement is function.node:
                    yield Site(statement, function)

    def replaced(self, statement: ast.stmt, text: str) -> str | None:
        """Return the source with the text in place of a statement, or of the head of a compound one.

        None where the statement shares its line with another.
        """
        first, last = _extent(statement)
        line = self._lines[first - 1]
        indent = line[: len(line) - len(line.lstrip())]
        shared = line.encode()[: statement.col_offset].strip() or (
            not hasattr(statement, "body")
            and self._lines[last - 1].encode()[statement.end_col_offset :].lstrip(b" ;")[:1] not in (b"", b"#")
        )
        if shared or last < first:
            return None
        if isinstance(statement, ast.If) and line.lstrip().startswith("elif"):
            text = f"el{text}"
        new = [indent + part for part in text.split("\n")]
        return "\n".join([*self._lines[: first - 1], *new, *self._lines[last:]])

    def moved(self, statement: ast.stmt, after: ast.stmt) -> str | None:
        """Return the source with a simple statement put after a later one of its block; None if it shares a line."""
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        if self.replaced(statement, "pass") is None:
            return None
        end = after.end_lineno or after.lineno
        lines = self._lines
        return "\n".join([*lines[: first - 1], *lines[last:end], *lines[first - 1 : last], *lines[end:]])

    def decorated(self, function: Function, decorator: str) -> str:
        """Return the source with a decorator next to the function."""
        at = function.node.lineno - 1
        indent = " " * function.node.col_offset
        return "\n".join([*self._lines[:at], f"{indent}@{decorator}", *self._lines[at:]])

    def _allowed(self) -> set[int]:
        inside, found = False, set()
        for number, line in enumerate(self._lines, 1):
            inside = line.strip() == BEGIN_SOLUTION or (inside and line.strip() != END_SOLUTION)
            if inside:
                found.add(number)
        return found or set(range(1, len(self._lines) + 1))


def header(statement: ast.stmt) -> str:
    """Return a simple statement, or the first line of a compound one, as `ast.unparse` writes it."""
    if not hasattr(statement, "body"):
        return ast.unparse(statement)
    alone = copy.copy(statement)
    for name in ("orelse", "finalbody", "handlers", "decorator_list"):
        if hasattr(alone, name):
            setattr(alone, name, [])
    alone.body = [ast.Pass()]
    return ast.unparse(alone).rsplit("\n", 1)[0]


def expressions(statement: ast.stmt) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Yield the nodes below a statement that are its own, and for each what puts another in its place.

    Other statements within it, annotations, and the messages of errors are not entered.
    """
    if not isinstance(statement, ast.Try | ast.Match):
        yield from _below(statement)


def _below(parent: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    for name, value in ast.iter_fields(parent):
        if name in _NOT_ENTERED or isinstance(parent, ast.JoinedStr):
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or isinstance(node, ast.expr_context):
                continue

            def put(new: ast.AST, name: str = name, value: object = value, index: int = index) -> None:
                if isinstance(value, list):
                    value[index] = new
                else:
                    setattr(parent, name, new)

            yield node, put
            if not (isinstance(parent, ast.Raise) and name == "exc"):
                yield from _below(node)


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[_Named, str]]:
    for node in body:
        if isinstance(node, _Named):
            yield node, prefix
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    if isinstance(node, ast.stmt):
        yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _statements(child)


def _extent(statement: ast.stmt) -> tuple[int, int]:
    """Return the first and the last line of a simple statement, or of the head of a compound one."""
    body = getattr(statement, "body", None)
    if not body:
        return statement.lineno, statement.end_lineno or statement.lineno
    first = min([body[0].lineno, *(d.lineno for d in getattr(body[0], "decorator_list", []))])
    return statement.lineno, first - 1
