"""What a test has bound is what a later one finds: values as they were, nothing that was not bound, no object."""

from __future__ import annotations

from collections import Counter, deque
from datetime import date
from decimal import Decimal
from fractions import Fraction
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
def test_an_object_is_found_as_the_one_that_it_is(value: Any) -> None:
    left = _left({"score": value, "results": []})
    assert left.values["score"] is value and left.holds


def test_a_value_without_end_or_very_large_is_not_copied() -> None:
    endless: list[Any] = []
    endless.append(endless)
    large = [0] * 200_000
    left = _left({"score": endless, "results": large})
    assert left.values["score"] is endless and left.values["results"] is large


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Decimal("2.50"), range(3), deque([1]), Counter("aab"), date(2026, 1, 2)]
)
def test_values_of_the_standard_library_are_plain(value: Any) -> None:
    left = _left({"score": [value], "results": []})
    assert left.values["score"] == [value] and not left.holds


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


GIVEN: dict[str, Any] = {"cells": [], "theirs": ["f", "calls", "n", "make"], "level": 3, "withheld": []}


def _two(talk: Talk, first: str, second: str) -> dict[str, Any]:
    left = Left()
    result = talk.test(first, given=dict(GIVEN), left=left)
    assert result["error"] is None, result["error"]
    return talk.test(second, given={**GIVEN, "cells": [first]}, left=left)


def test_nothing_is_asked_of_an_object_of_the_students_when_it_is_kept(talk: Talk) -> None:
    talk.code("class N:\n    @property\n    def __class__(self): return int\nn = N()")
    left = Left()
    assert talk.test("x = n", given=dict(GIVEN), left=left)
    assert talk.heard == [("name", ["n"])]


def test_an_object_of_the_students_is_the_same_one_for_a_later_test(talk: Talk) -> None:
    talk.code("def make():\n    state = []\n    def more():\n        state.append(1)\n        return len(state)\n"
              "    return more")  # fmt: skip
    later = _two(talk, "more = make()\nboth = [more, more() == 1]", "assert both[1] and more() == 2 and both[0]() == 3")
    assert later["error"] is None
    assert ("name", ["make"]) not in talk.heard


def test_a_verdict_beside_an_object_is_the_one_that_was_computed(talk: Talk) -> None:
    talk.code("class Yes:\n    def __eq__(self, other): return True\ndef f(x): return Yes()")
    first = "seen = object()\nresults = [type(f(1)) is int, seen]"
    later = _two(talk, first, "assert results[0]")
    assert later["error"]["name"] == "AssertionError"
    assert {operation for operation, _ in talk.heard} <= {"altered"}  # which looks back at the end


def test_a_handle_of_a_test_that_left_no_object_is_forgotten(talk: Talk) -> None:
    talk.code("def make(): return lambda: 3")
    _two(talk, "score = make()() == 3", "assert score")
    assert not talk.student._kept
    _two(talk, "made = make()", "assert made() == 3")
    assert len(talk.student._kept) == 2


def test_an_object_that_the_students_code_was_handed_cannot_be_reached_from_a_later_test(talk: Talk) -> None:
    talk.code("held = []\ndef f(x):\n    held.append(x)\n    return len(held)\n"
              "def make():\n    return held[0]()")  # fmt: skip
    later = _two(talk, "kept = [f(lambda: 'secret'), object()]", "other = lambda: 'another'\nf(other)\nmake()")
    assert later["error"] is not None


def test_a_verdict_of_a_locked_cell_is_computed_once_and_is_the_same_for_each_test(talk: Talk) -> None:
    talk.code("calls = []\ndef f(x):\n    calls.append(x)\n    return len(calls)")
    left = Left()
    given: dict[str, Any] = {**GIVEN, "cells": ["share = f(1) * 2.0", "double = 2 * share"]}
    asked = []
    for _ in range(3):
        assert talk.test("assert (share, double) == (2.0, 4.0)", given=dict(given), left=left)["error"] is None
        asked += [what for what in talk.heard if what == ("name", ["f"])]
    assert len(asked) == 1


def test_what_a_function_of_an_earlier_test_finds_is_what_that_test_has_left(talk: Talk) -> None:
    talk.code("def f(x): return 1")
    shown = "CASES = {1: 1}\ndef run():\n    for n, want in CASES.items(): assert f(n) == want\nrun()"
    left = Left()
    left.note(shown, {"CASES": {1: 1, 12: 144}})  # by hidden lines
    later = talk.test("run()", given={**GIVEN, "cells": [shown]}, left=left)
    assert later["error"]["name"] == "AssertionError"
