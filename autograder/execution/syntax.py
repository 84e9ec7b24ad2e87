"""The text of a cell and its statements: what stands where, and what is called."""

from __future__ import annotations

import ast

from autograder.boundary.parsing import syntax_tree, without_magics
from autograder.markers import BEGIN_HIDDEN, END_HIDDEN

__all__ = ["called", "case_title", "hidden_lines", "is_case", "offset", "segment", "statements_of"]


def statements_of(source: str) -> list[ast.stmt]:
    """Return the statements at the top; none of a cell that is no Python. Lines of IPython count as `pass`."""
    try:
        return syntax_tree(without_magics(source)).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def hidden_lines(source: str) -> set[int]:
    """Return the numbers of the lines that students do not get, from 1."""
    found, hidden = set(), False
    for number, line in enumerate(source.split("\n"), 1):
        hidden = (hidden or line.strip() == BEGIN_HIDDEN) and line.strip() != END_HIDDEN
        if hidden:
            found.add(number)
    return found


def called(node: ast.AST) -> str:
    """Return the last name of the function that is called here; empty if this is no call of one with a name."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_case(node: ast.AST) -> bool:
    """Whether this begins a case of labkit's check."""
    return isinstance(node, ast.Call) and called(node) in {"case", "hidden_case"}


def case_title(call: ast.Call) -> str:
    """Return the title of a case; empty if it is made of values: `f"f({n})"`."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def segment(source: str, node: ast.AST) -> str:
    """Return the text of a node."""
    return ast.get_source_segment(source, node) or ast.unparse(node)


def offset(source: str, node: ast.AST, *, end: bool = False) -> int:
    """Return where a node begins, or ends, in characters; ast counts the bytes of a line."""
    line = getattr(node, "end_lineno" if end else "lineno")
    column = getattr(node, "end_col_offset" if end else "col_offset")
    lines = source.split("\n")
    return sum(len(text) + 1 for text in lines[: line - 1]) + len(lines[line - 1].encode()[:column].decode())
