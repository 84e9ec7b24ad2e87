"""One change of a test's text, and those that need nothing but the statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Change", "of_expected_error"]


@dataclass(frozen=True)
class Change:
    """Another text for a part of the source."""

    node: ast.expr | ast.stmt
    text: str
    literal: bool
    """Whether a literal became another one: nothing tells such a check from a true one but knowing the answer."""
    title: str = ""
    """Of the case that fails with it."""


def of_expected_error(statement: ast.Try) -> Iterator[Change]:
    """Let the error out that a test waits for: `except ValueError: pass`, and otherwise it raises."""
    last = [*statement.body, *statement.orelse][-1]
    handler = statement.handlers[0].body
    if isinstance(last, ast.Raise) and len(statement.handlers) == 1 and isinstance(handler[0], ast.Pass):
        yield Change(handler[0], "raise", literal=False)
