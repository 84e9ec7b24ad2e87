"""An array of no items equals nothing that has some, in what is compiled as a test; libraries find NumPy as it is."""

from __future__ import annotations

import ast
import importlib
from array import array
from collections import deque
from typing import Any

import numpy as np
import pytest

from autograder.boundary.empties import BELOW, COMPARING, compiled, with_items
from labkit import check

OWN = {(module, name) for module, name in COMPARING if module in {"numpy", "numpy.testing"}}


def outcome(text: str, file: str = "<test>") -> Any:
    """Return what an expression of a test comes to, with NumPy's functions guarded; or the kind of its error."""
    guarded = {name: with_items(module, name, _own(module, name)) for module, name in sorted(OWN)}
    tree = ast.parse(text, mode="eval")
    try:
        return eval(compiled(tree, file), {"np": np, "array": array, "deque": deque, **guarded, **BELOW})
    except AssertionError:
        return AssertionError


def _own(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


NOTHING = ["np.array([])", "np.empty((0, 1))", "[]", "()", "[[]]", "range(0)", "deque()", "array('d')", "bytearray()"]


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
    for library in (np.__file__, ast.__file__, check.__file__):
        assert outcome("allclose(np.array([]), 4)", file=library) is True
        assert bool(outcome("all(np.array([]))", file=library)) is True


def test_a_module_beside_the_notebook_is_no_library() -> None:
    assert outcome("allclose(np.array([]), 4)", file="/home/me/course/source/hw/checks.py") is False


def test_methods_say_nothing_of_nothing_either() -> None:
    for text in ("(np.array([]) == 4).all()", "(np.empty((0, 1)) - [1, 2] > 1).any()", "np.isclose([], []).all()"):
        assert outcome(text) is AssertionError
    assert outcome("(np.array([4]) == 4).all()") == np.True_
    assert outcome("(np.ones((2, 2)) == 1).all(axis=0).tolist()") == [True, True]
    assert outcome("np.array([1, 0]).any()") == np.True_


def test_all_of_numpys_assertions_that_compare_are_known() -> None:
    other = {"assert_", "assert_no_gc_cycles", "assert_no_warnings", "assert_raises", "assert_raises_regex"}
    asserting = {name for name in np.testing.__all__ if name.startswith("assert")} - other
    assert asserting - {"assert_string_equal", "assert_warns"} <= {name for _, name in COMPARING}


def test_what_is_approximate_for_pytest_is_not_nothing() -> None:
    kind = type(pytest.approx(3.0))
    assert (kind.__module__, "ApproxScalar.__eq__") in COMPARING
    same = with_items(kind.__module__, "ApproxScalar.__eq__", kind.__eq__)
    empty: list[Any] = [np.array([]), np.empty((0, 1)), []]
    for nothing in empty:
        assert same(pytest.approx(3.0), nothing) is False
    assert not same(pytest.approx(3.0), np.float64(3.1))
    assert same(pytest.approx(3.0), np.array([3.0, 3.0])) is True
    assert same(pytest.approx(3.0), 3) is True


def test_tensors_of_no_items_are_read_as_torch_reads_them() -> None:
    torch = pytest.importorskip("torch")
    guarded = {name: with_items("torch", name, getattr(torch, name)) for name in ("allclose", "norm", "all")}
    space = {"torch": torch, **guarded, **BELOW}
    none = "torch.empty(0, 1, requires_grad=True)"
    assert eval(compiled(ast.parse(f"allclose({none}, torch.ones(2))", mode="eval"), "<test>"), space) is False
    for text in (f"norm({none} - torch.ones(2))", f"all({none} > 1)", f"({none} == 1).all()"):
        with pytest.raises(AssertionError, match="no items"):
            eval(compiled(ast.parse(text, mode="eval"), "<test>"), space)
