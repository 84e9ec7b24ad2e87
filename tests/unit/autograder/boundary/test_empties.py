"""An array of no items equals nothing that has some, in what is compiled as a test; libraries find NumPy as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.boundary.empties import COMPARING, with_items

OWN = {(module, name) for module, name in COMPARING if module.startswith("numpy")}


def outcome(text: str, file: str = "<test>") -> Any:
    """Return what an expression of a test comes to, with NumPy's functions guarded; or the kind of its error."""
    guarded = {name: with_items(module, name, _own(module, name)) for module, name in sorted(OWN)}
    try:
        return eval(compile(text, file, "eval"), {"np": np, **guarded})
    except AssertionError:
        return AssertionError


def _own(module: str, name: str) -> Any:
    return getattr(np.testing if module == "numpy.testing" else np, name)


NOTHING = ["np.array([])", "np.empty((0, 1))", "[]"]


@pytest.mark.parametrize("nothing", NOTHING)
def test_nothing_is_equal_to_something(nothing: str) -> None:
    for other in ("4", "[1, 2]", "np.arange(3.0)", "np.float32(2)"):
        for pair in (f"{nothing}, {other}", f"{other}, {nothing}"):
            assert outcome(f"allclose({pair})") is False
            assert outcome(f"isclose({pair})") is False
            assert outcome(f"array_equiv({pair})") is False
            assert outcome(f"assert_allclose({pair})") is AssertionError
            assert outcome(f"assert_array_equal({pair})") is AssertionError
            assert outcome(f"assert_almost_equal({pair})") is AssertionError
    assert outcome(f"all({nothing})") is outcome(f"any({nothing})") is AssertionError


def test_two_of_no_items_are_equal_and_all_else_is_as_it_was() -> None:
    assert outcome("allclose(np.array([]), [])") is True
    assert outcome("assert_array_equal(np.empty((0, 2)), np.empty((0, 2)))") is None
    assert outcome("allclose([1, 2], [1, 2.0])") is True
    assert outcome("isclose([1, 2], [1, 3])").tolist() == [True, False]
    assert bool(outcome("all([True, 1])")) is True
    assert outcome("all(np.ones((2, 2)), axis=0)").tolist() == [True, True]


def test_libraries_compare_as_they_always_do() -> None:
    assert outcome("allclose(np.array([]), 4)", file="library.py") is True
    assert bool(outcome("all(np.array([]))", file="library.py")) is True
