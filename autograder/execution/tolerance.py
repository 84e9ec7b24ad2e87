"""The tolerances of comparisons, as far as they stand in the text of a test."""

from __future__ import annotations

import ast
from dataclasses import replace

from autograder.execution.literals import Reach

__all__ = ["reach_of"]

_DEFAULTS = {
    "allclose": Reach(1e-5, 1e-8),
    "isclose": Reach(1e-5, 1e-8),
    "assert_allclose": Reach(1e-7),
    "assert_close": Reach(2e-2, 1e-5),  # of torch.testing: 0.016 for bfloat16
    "assert_almost_equal": Reach(0, 1e-5),
    "assert_array_almost_equal": Reach(0, 1e-5),
    "assert_approx_equal": Reach(1e-5),
    "assertAlmostEqual": Reach(0, 1e-5),
    "approx": Reach(1e-6, 1e-12),
    "close": Reach(1e-5, 1e-8),
}
"""By the name of the function; numpy, math, torch.testing, unittest, pytest and labkit agree nearly."""
_POSITIONS = {
    "allclose": ("rtol", "atol"),
    "isclose": ("rtol", "atol"),
    "assert_allclose": ("rtol", "atol"),
    "assert_almost_equal": ("decimal",),
    "assert_array_almost_equal": ("decimal",),
    "assert_approx_equal": ("significant",),
    "assertAlmostEqual": ("places",),
    "approx": ("rel", "abs"),
}
_RELATIVE = {"rtol", "rel_tol", "rel"}
_ABSOLUTE = {"atol", "abs_tol", "abs", "delta"}
_PLACES = {"decimal", "places", "significant"}
_WORDS = {"equal_nan", "err_msg", "msg", "strict", "verbose", "name", "hint", "dtype", "nan_ok"}
"""Arguments of comparisons that are no tolerances."""
_LOOSE = 0.5
"""A larger tolerance may reach any value."""


def reach_of(call: ast.Call, name: str) -> Reach | None:
    """Return the tolerance of a comparison; None if the text does not say it, or if it is so wide that all is equal."""
    found = _DEFAULTS.get(name, Reach())
    after = 1 if name == "approx" else 2
    named = dict(zip(_POSITIONS.get(name, ()), call.args[after:], strict=False))
    if len(call.args) - after > len(named):
        return None
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        named[keyword.arg] = keyword.value
    for word, node in named.items():
        value = node.value if isinstance(node, ast.Constant) else None
        if word in _WORDS or (value is None and isinstance(node, ast.Constant)):
            continue
        if type(value) not in {int, float}:
            return None
        changed = _with(found, word, float(value))  # type: ignore[arg-type]
        if changed is None:
            return None
        found = changed
    return found if found.relative <= _LOOSE and found.absolute <= _LOOSE else None


def _with(reach: Reach, word: str, value: float) -> Reach | None:
    if word in _RELATIVE:
        return replace(reach, relative=value)
    if word in _ABSOLUTE:
        return replace(reach, absolute=value)
    if word in _PLACES and 0 <= value <= 15:
        size = 1.5 * 10.0**-value
        return Reach(relative=10 * size) if word == "significant" else Reach(absolute=size)
    return None
