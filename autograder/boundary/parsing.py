"""Python source read as a syntax tree, by one thread at a time, and the lines that only IPython reads."""

from __future__ import annotations

import ast
import re
import threading

__all__ = ["MAGIC", "syntax_tree", "without_magics"]

_ONE_AT_A_TIME = threading.Lock()
"""CPython 3.11 counts the depth of the tree that it builds in one place for all threads. A callback of the garbage
collector, such as Dask's, lets another thread in while it builds, and it then ends in `SystemError: AST constructor
recursion depth mismatch` (https://github.com/python/cpython/issues/106905)."""


MAGIC = re.compile(r"(\s*)(?=\S)([%!?]|[\w.]+\?{1,2}\s*$|[\w., ]+=\s*[%!])")
"""A line that IPython reads, and Python cannot. What follows the spaces is none: each is looked at once."""


def without_magics(source: str) -> str:
    """Return a cell's text with `pass` for the lines that only IPython reads."""
    return "\n".join(f"{found[1]}pass" if (found := MAGIC.match(line)) else line for line in source.split("\n"))


def syntax_tree(source: str) -> ast.Module:
    """Return what `ast.parse` does, and raise what it raises; safe in threads."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)  # noqa: TID251 (this is the place)
