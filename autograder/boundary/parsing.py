"""Python source read as a syntax tree, by one thread at a time."""

from __future__ import annotations

import ast
import threading

__all__ = ["syntax_tree"]

_ONE_AT_A_TIME = threading.Lock()
"""CPython 3.11 counts the depth of the tree that it builds in one place for all threads. A callback of the garbage
collector, such as Dask's, lets another thread in while it builds, and it then ends in `SystemError: AST constructor
recursion depth mismatch` (https://github.com/python/cpython/issues/106905)."""


def syntax_tree(source: str) -> ast.Module:
    """Return what `ast.parse` does, and raise what it raises; safe in threads."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)  # noqa: TID251 (this is the place)
