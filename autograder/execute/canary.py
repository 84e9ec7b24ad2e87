"""Checks that must fail, for test cells that run in the student's own kernel: one that passes betrays a patch."""

from __future__ import annotations

import ast
import secrets
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["value_canary", "with_canary"]

_Honest = Callable[[Sequence[Any]], bool]


def with_canary(source: str) -> tuple[str, _Honest]:
    """Return a test cell with a false assertion somewhere in it, and what tells from its outputs that it failed."""
    left, right = (secrets.randbelow(900) + 100 for _ in range(2))
    false = f"assert {left} * {right} == {left * right + 1 + secrets.randbelow(9)}"
    lines = source.split("\n")
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # with magics
        statements = []
    places = [statement.end_lineno or 0 for statement in statements if statement.col_offset == 0]
    single = [place for place in places if sum(other == place for other in places) == 1]
    place = secrets.choice(single) if single else len(lines)
    return "\n".join([*lines[:place], false, *lines[place:]]), _failed


def value_canary() -> tuple[str, _Honest]:
    """Return a cell with a value of its own, and what tells whether the value came back."""
    left, right = (secrets.randbelow(900) + 100 for _ in range(2))

    def honest(outputs: Sequence[Any]) -> bool:
        values = [output.data.get("text/plain") for output in outputs if output.output_type == "execute_result"]
        return values == [str(left * right)]

    return f"{left} * {right}", honest


def _failed(outputs: Sequence[Any]) -> bool:
    return any(output.output_type == "error" for output in outputs)
