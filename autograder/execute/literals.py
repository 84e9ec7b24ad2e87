"""Literals and other literals in their place."""

from __future__ import annotations

import ast
import secrets

__all__ = ["shifted"]

_HUGE = 2**50
"""Above it a float may be the same as the next whole number."""
_LETTERS = "aeioustrnm"


def shifted(node: ast.expr, *, far: bool) -> tuple[ast.expr, str] | None:
    """Return a part of a literal and another text for it, so that the whole has another value; None if it is none.

    far: so far from the old one that no tolerance in use reaches it.
    """
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    return _shift(node, far=far)


def _shift(node: ast.expr, *, far: bool) -> tuple[ast.expr, str] | None:
    parts: list[ast.expr] = []
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        parts = list(node.elts)
    elif isinstance(node, ast.Dict):
        parts = list(node.values)
    while parts:
        part = parts.pop(secrets.randbelow(len(parts)))
        if found := _shift(part, far=far):
            return found
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return None
    value = ast.literal_eval(node)
    text = _other(value, far=far)
    return None if text is None else (node, text)


def _other(value: object, *, far: bool) -> str | None:
    """Return the text of a value unlike this one, of its type."""
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int | float) and abs(value) < _HUGE:
        step = secrets.randbelow(3) + 1
        if far:
            step += 3 * abs(round(value)) + 10
        return repr(value - step if value < 0 else value + step)
    if isinstance(value, str):
        return repr(value + secrets.choice(_LETTERS))
    return None
