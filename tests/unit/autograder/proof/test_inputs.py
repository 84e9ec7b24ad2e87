"""What checks have called a function with, and what of it they have never tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.proof import Task
from autograder.proof.inputs import holes, noting, read_seen, show_holes
from autograder.proof.met_inputs import FILE

SOURCE = '''\
class Scale:
    def __init__(self, by):
        ### BEGIN SOLUTION
        self.by = by
        ### END SOLUTION

    def apply(self, x, shift=0.0):
        """Return x scaled."""
        ### BEGIN SOLUTION
        return x * self.by + shift
        ### END SOLUTION

def largest(numbers):
    ### BEGIN SOLUTION
    return max(numbers)
    ### END SOLUTION
'''


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs calls of the task's functions and returns what was noted."""

    def run(calls: str) -> Any:
        monkeypatch.setenv(FILE, str(tmp_path / "calls"))
        names: dict[str, Any] = {"np": np, "torch": torch}
        exec(noting(Task("scale", SOURCE)) + calls, names)
        return read_seen((tmp_path / "calls").read_text().splitlines())

    return run


def test_what_functions_and_methods_are_called_with_is_noted(seen: Any) -> None:
    found = seen("Scale(2.0).apply(np.eye(2))\nlargest([1, 2])\nlargest([0.1, -3.0, 0.1])")
    assert found["Scale.__init__"]["by"] >= {"a number", "whole", "without a zero"}
    assert found["Scale.apply"]["shift"] == {"left out"}
    assert found["Scale.apply"]["x"] >= {"dtype float64", "rank 2", "square", "with ties", "exact in 16 bits"}
    assert found["largest"]["numbers"] >= {"sorted", "unsorted", "with ties", "without ties", "not exact in 16 bits"}


def test_holes_are_what_was_never_tried(seen: Any) -> None:
    found = seen("Scale(2.0).apply(np.eye(2))")
    lines = list(show_holes([Task("scale", SOURCE)], found))
    assert "scale, Scale.apply, shift: always left out: its default alone was tried" in lines
    assert "scale, largest: no check has called it" in lines
    [about] = [line for line in lines if "apply, x" in line]
    for hole in (
        "never negative",
        "only square",
        "only contiguous",
        "never empty",
        "only float64",
    ):
        assert hole in about
    assert "never 0" not in about


def test_a_second_kind_of_argument_closes_the_hole(seen: Any) -> None:
    found = holes(seen("largest(torch.tensor([1., 2.]))")["largest"]["numbers"])
    expected = {"only float32", "only in order", "only numbers that 16 bits hold exactly", "only contiguous"}
    assert expected <= set(found)
    found = holes(seen("largest(torch.tensor([0.1, 5., -2.], dtype=torch.float64)[::2])")["largest"]["numbers"])
    assert not expected & set(found)


def test_of_one_element_only_what_was_there_is_noted(seen: Any) -> None:
    found = holes(seen("Scale(3).apply(np.array([[2.0]]))")["Scale.apply"]["x"])
    assert found == ["never empty", "never of several elements", "only float64"]
    calls = "Scale(3).apply(np.array([[-0.5]]))\nScale(3).apply(np.ones((0, 3)))\n"
    found = holes(seen(f"{calls}Scale(3).apply(np.arange(1.0, 5.0).reshape(2, 2).T)")["Scale.apply"]["x"])
    assert not {"never negative", "never with a side of 1", "only square", "only whole numbers"} & set(found)
    assert "never 0" in found
    assert holes(seen("largest([3.0])")["largest"]["numbers"]) == ["never empty", "never of several items"]


def test_an_argument_that_was_always_the_same_is_said_to_be(seen: Any) -> None:
    found = seen("Scale(0.5).apply(np.ones(3), 0.1)\nScale(0.5).apply(np.zeros(2))\nlargest([2, 2])")
    assert holes(found["Scale.__init__"]["by"]) == ["always 0.5"]
    assert holes(found["Scale.apply"]["shift"]) == ["always 0.1, or left out"]
    assert holes(found["Scale.apply"]["x"])[0] == holes(found["largest"]["numbers"])[0] == "all its numbers the same"
    assert "never negative" in holes(seen("Scale(0.25)")["Scale.__init__"]["by"]), "another value than before"


def test_what_is_true_of_arrays_and_of_lists_is_said_once(seen: Any) -> None:
    found = holes(seen("largest(np.arange(2))\nlargest([1, 2])")["largest"]["numbers"])
    assert found[-4:] == ["never empty", "never of one element", "never of one item", "only int64"]


def test_an_array_without_an_axis_has_no_size(seen: Any) -> None:
    assert holes(seen("Scale(torch.tensor(-2.0))")["Scale.__init__"]["by"]) == ["only float32"]


def test_of_integers_nobody_asks_for_digits(seen: Any) -> None:
    found = seen("Scale(3).apply(np.arange(1, 4), 2)")
    assert found["Scale.__init__"]["by"] == {"a number"}
    assert not {"whole", "exact in 16 bits"} & found["Scale.apply"]["x"]


def test_a_call_that_fails_is_noted_by_nobody(seen: Any) -> None:
    found = seen("largest([1, 2])\ntry:\n    largest(1, 2, 3)\nexcept TypeError:\n    pass")
    assert len(found["largest"]) == 1
