"""Takes an array of no items for no answer where a test compares it: NumPy broadcasts it, and everything holds of it.

`np.allclose(np.empty((0, 1)), 4)` is true. In a test, and in what it has of locked cells, nothing is equal to
something; two that are empty are equal. A test in which the instructor's solution relies on that does not run apart.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from autograder.boundary.handles import is_stand_in, plain

__all__ = ["COMPARING", "with_items"]

_FILES = ("<test>", "<given>")
"""What code of tests and of locked cells is compiled as: libraries compare as they always do."""
_ASSERTING = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
)  # fmt: skip
COMPARING = (
    *(("numpy.testing", name) for name in _ASSERTING),
    *((module, name) for module in ("numpy", "torch") for name in ("allclose", "isclose", "all", "any")),
    ("numpy", "array_equiv"),
)
"""What is compared with, where that is loaded: modules and names."""


def with_items(_module: str, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that compares as `own`, but finds nothing equal to something, and nothing true of nothing."""
    of_one = name in {"all", "any"}

    @functools.wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_code.co_filename in _FILES:
            sizes = [_size(value) for value in args[: 1 if of_one else 2]]
            if 0 in sizes and (of_one or any(sizes)):
                if name in {"allclose", "array_equiv", "isclose"}:
                    return False
                raise AssertionError(f"{name}: an array of no items says nothing")
        return own(*args, **kwargs)

    return call


def _size(value: Any) -> int:
    """Return how many items an array, a tensor or a list has, of the student's too; 1 of anything else."""
    value = plain(value) if is_stand_in(value) else value
    if type(value) in (list, tuple):
        return len(value)
    size = getattr(value, "size", 1) if type(value).__module__ == "numpy" else 1
    if type(value).__module__.partition(".")[0] == "torch":
        size = value.numel() if hasattr(value, "numel") else 1
    return size if type(size) is int else 1
