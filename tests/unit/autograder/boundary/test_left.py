"""What a test has bound is what a later one finds: values as they were, nothing that was not bound, no object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.boundary.left import Left
from tests.unit.autograder.boundary.talk import Talk

SHOWN = "score = f(1)\nif f(2):\n    score += 1\nresults = [f(x) for x in range(3)]\nimport math\ndef own(): pass"


def _left(space: dict[str, Any], *after: str, others: set[str] | None = None) -> Left:
    left = Left()
    left.note(SHOWN, space)
    left.begin([SHOWN, *after], others or set())
    return left


@pytest.mark.parametrize(
    "value",
    [3, 2.5, "text", None, b"x", [1, (2, {3})], {"a": [np.float32(1)]}, np.arange(3), np.float64(2), frozenset({1})],
)
def test_a_plain_value_is_found_as_it_was(value: Any) -> None:
    found = _left({"score": value, "results": []}).values["score"]
    assert repr(found) == repr(value) and type(found) is type(value)


def test_each_test_finds_a_value_of_its_own() -> None:
    left = _left({"score": 1, "results": [1]})
    left.values["results"].append(2)
    left.begin([SHOWN], set())
    assert left.values["results"] == [1]


def test_what_a_test_did_not_come_to_bind_is_bound_nowhere() -> None:
    left = _left({"score": 2})
    assert left.values == {"score": 2} and left.unbound == {"results"}


@pytest.mark.parametrize("value", [object(), [object()], np.array([None]), type("N", (int,), {})(3), lambda: 1])
def test_an_object_is_left_where_it_is(value: Any) -> None:
    left = _left({"score": value, "results": []})
    assert "score" not in left.values and not left.unbound


def test_a_value_without_end_or_very_large_is_left_where_it_is() -> None:
    endless: list[Any] = []
    endless.append(endless)
    left = _left({"score": endless, "results": [0] * 200_000})
    assert (left.values, left.unbound) == ({}, frozenset())


def test_names_of_the_students_and_those_that_a_locked_cell_binds_later_are_not_kept() -> None:
    assert _left({"score": 1, "results": []}, others={"score"}).values == {"results": []}
    assert _left({"score": 1, "results": []}, "score = 0").values == {"results": []}


def test_a_later_test_compares_what_an_earlier_one_has_computed(talk: Talk) -> None:
    talk.code("calls = []\ndef f(x):\n    calls.append(x)\n    return 7 * x")
    left = Left()
    given: dict[str, Any] = {"cells": [], "theirs": ["f", "calls"], "level": 3, "withheld": []}
    assert talk.test("total = f(1)\nassert total == 7", given=given, left=left)["error"] is None
    later = {**given, "cells": ["total = f(1)"], "withheld": ["total"]}
    assert talk.test("assert total == 7\nassert len(calls) == 1", given=later, left=left)["error"] is None


def test_nothing_is_asked_of_an_object_of_the_students_when_it_is_kept(talk: Talk) -> None:
    talk.code("class N:\n    @property\n    def __class__(self): return int\nn = N()")
    left = Left()
    assert talk.test("x = n", given={"cells": [], "theirs": ["n"], "level": 3, "withheld": []}, left=left)
    assert talk.heard == [("name", ["n"])]
    left.begin(["x = n"], set())
    assert not left.values
    assert not left.unbound
