"""Data that the kernel has otherwise is named, unless it is drawn at random; what is less than there, apart."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from autograder.boundary.drift import drifted


def _of(here: Any, there: Any, again: Any = None) -> tuple[bool, bool]:
    found = drifted({"x": here}, {"x": there}.__getitem__, lambda: {"x": here if again is None else again})
    return found[0] == ["x"], found[1] == ["x"]


@pytest.mark.parametrize(
    ("here", "there"),
    [([], [1]), ([1], [1, 2]), ({}, {"a": 1}), ({"a": []}, {"a": [1]}), (0, 3), (False, True), (None, 1), ("", "text"),
     ([[], 1], [[2], 1]), (np.zeros(0), np.zeros(3)), (np.zeros(2), np.zeros(3)), ((), (1,)), (set(), {1}),
     (deque(), deque([1])), (1, 1.5), ([], (1,))],
)  # fmt: skip
def test_what_is_less_than_in_the_kernel_is_named_twice(here: Any, there: Any) -> None:
    assert _of(here, there) == (True, True)


@pytest.mark.parametrize(
    ("here", "there"),
    [([1], []), ([1], [2]), ({"a": 1}, {"a": 2}), (3, 4), (np.zeros(2), np.ones(2)), ("a", "b"), ({1}, {2}), (1, 0)],
)
def test_what_is_another_and_no_less_is_named_once(here: Any, there: Any) -> None:
    assert _of(here, there) == (True, False)


@pytest.mark.parametrize(
    "value", [3, float("nan"), [1, (2, {3})], np.array([1.0, np.nan]), {"a": [1]}, "text", None, np.float32(2)]
)
def test_what_is_the_same_is_not_named(value: Any) -> None:
    assert _of(value, value) == (False, False)


def test_what_is_drawn_at_random_is_not_named() -> None:
    assert _of([0.1], [0.2], again=[0.3]) == (False, False)


def test_what_the_kernel_has_no_more_and_what_is_no_plain_value_is_not_named() -> None:
    assert drifted({"x": 1, "y": object()}, lambda _name: 1 / 0, dict) == ([], [])
