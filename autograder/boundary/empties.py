"""Takes an array of no items for no answer where a test compares it: NumPy broadcasts it, and everything holds of it.

`np.allclose(np.empty((0, 1)), 4)` is true. In a test, and in what it has of locked cells and of modules of the
instructor's, nothing is equal to something; two that are empty are equal. A test in which the instructor's solution
relies on that does not run apart.
"""

from __future__ import annotations

import ast
import functools
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from autograder.boundary.handles import is_stand_in, plain

__all__ = ["BELOW", "COMPARING", "compiled", "with_items"]

_FILES = ("<test>", "<given>")
"""What code of tests and of locked cells is compiled as."""
_LIBRARIES = (*{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
              str(Path(__file__).parents[2]))  # fmt: skip
"""Where libraries lie, which compare as they always do; this package and labkit among them."""
_ASSERTING = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_compare", "assert_array_equal", "assert_array_less",
    "assert_array_max_ulp", "assert_equal",
)  # fmt: skip
_SAYING = {"allclose", "allequal", "array_equiv", "isclose", "is_close"}
"""What returns whether two are alike."""
_OF_ONE = {"all", "any", "norm", "vector_norm", "reduce_all", "reduce_any"}
"""What says something of one array that holds of none, or is 0 for none."""
COMPARING = (
    *(("numpy.testing", name) for name in _ASSERTING),
    *((module, name) for module in ("numpy", "torch") for name in ("allclose", "isclose", "all", "any")),
    *(("numpy.ma", name) for name in ("allclose", "allequal")),
    ("numpy", "array_equiv"),
    *((module, "norm") for module in ("numpy.linalg", "torch", "torch.linalg", "tensorflow")),
    ("torch.linalg", "vector_norm"),
    ("torch.testing", "assert_close"),
    *(("tensorflow", name) for name in ("reduce_all", "reduce_any")),
    ("tensorflow.experimental.numpy", "allclose"),
    *(("keras.ops", name) for name in ("all", "any", "isclose", "norm")),
    *((module, "ApproxScalar.__eq__") for module in ("_pytest.approx", "_pytest.python_api")),
)
"""What is compared with, where that is loaded: modules and names. pytest's class has lain in two places."""
_GUARD = "array with items"
"""What the guard of `.all()` is called in compiled code: no name that source could have."""


def with_items(_module: str, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that compares as `own`, but finds nothing equal to something, and nothing true of nothing."""
    of_one = name in _OF_ONE
    approximate = name == "ApproxScalar.__eq__"  # called by an operator of pytest's: never by a library

    @functools.wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        if approximate:
            return _size(args[-1]) != 0 and own(*args, **kwargs)
        if _is_instructors(sys._getframe(1).f_code.co_filename):
            sizes = [_size(value) for value in [*args, *kwargs.values()][: 1 if of_one else 2]]
            if 0 in sizes and (of_one or any(sizes)):
                if name in _SAYING:
                    return False
                raise AssertionError(f"{name}: an array of no items says nothing")
        return own(*args, **kwargs)

    return call


def compiled(tree: ast.Module | ast.Expression, file: str) -> CodeType:
    """Return the code of a test, or of a locked cell, in which `.all()` and `.any()` of nothing are an error."""
    mode = "eval" if isinstance(tree, ast.Expression) else "exec"
    return compile(ast.fix_missing_locations(_Guarded().visit(tree)), file, mode)


class _Guarded(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in {"all", "any"}:
            guard = ast.copy_location(ast.Name(_GUARD, ast.Load()), node.func.value)
            node.func.value = ast.copy_location(ast.Call(guard, [node.func.value], []), node.func.value)
        return node


def _with_some(value: Any) -> Any:
    """Return what `.all()` is asked of; AssertionError if it is an array or a tensor that holds nothing."""
    if hasattr(type(value), "shape") and _size(value) == 0:
        raise AssertionError("all of an array of no items says nothing")
    return value


BELOW = {_GUARD: _with_some}
"""The names that such code finds below its own."""


@functools.cache
def _is_instructors(file: str) -> bool:
    """Whether the code of this file is a test's, a locked cell's, or a module's beside them, and no library's."""
    return file in _FILES or not (file.startswith("<") or file.startswith(_LIBRARIES))


def _size(value: Any) -> int:
    """Return how many items something has, of the student's too, as NumPy reads it: 1 of what is no array or list."""
    value = plain(value) if is_stand_in(value) else value
    if is_stand_in(value):
        return 1
    try:
        if any(kind.__module__.partition(".")[0] == "torch" for kind in type(value).__mro__):
            return int(value.numel())  # NumPy reads no tensor that has a graph
        return int(np.size(value))
    except Exception:  # rows of several lengths, what an object of the student's raises: the comparison says it
        return 1
