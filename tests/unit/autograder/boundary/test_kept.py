"""What locked cells have bound is what names mean while a test runs in the student's kernel, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from autograder.boundary import around, kept


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    parts = (kept._bound, kept._lent, kept._own)
    saved = [dict(part) for part in parts]
    for part in parts:
        part.clear()
    yield
    for part, old in zip(parts, saved, strict=True):
        part.clear()
        part.update(old)


def _around(space: dict[str, Any], names: list[str], unseen: list[str], inside: str) -> None:
    kept.lend(space, names, unseen)
    exec(inside, space)
    kept.give_back(space, names)
    space.pop("__builtins__", None)


def test_a_test_finds_what_the_locked_cell_has_bound_and_the_student_has_his_own_back() -> None:
    space: dict[str, Any] = {}
    _around(space, ["goal"], [], "goal = 9")
    space["goal"] = "my own"
    _around(space, ["goal"], [], "seen = goal")
    assert space == {"goal": "my own", "seen": 9}


def test_a_name_that_nothing_has_bound_is_not_there_for_a_test() -> None:
    space: dict[str, Any] = {"more": "my own"}
    _around(space, ["more"], ["more"], "seen = 'more' in globals()")
    assert space == {"more": "my own", "seen": False}


def test_what_a_later_locked_cell_binds_anew_is_what_later_tests_find() -> None:
    space: dict[str, Any] = {}
    _around(space, ["goal"], [], "goal = 1")
    space["goal"] = 5
    _around(space, ["goal"], [], "goal = goal + 1")
    space["goal"] = 0
    _around(space, ["goal"], [], "seen = goal")
    assert space["seen"] == 2


def test_a_name_without_a_meaning_of_the_student_s_goes_with_the_test() -> None:
    space: dict[str, Any] = {}
    _around(space, ["goal"], [], "goal = 1")
    assert space == {"goal": 1}
    del space["goal"]
    _around(space, ["goal"], [], "seen = goal")
    assert space == {"seen": 1}


def test_the_code_around_a_cell_calls_these() -> None:
    space: dict[str, Any] = {}
    before, after = around.keeping({"goal", "base"}, {"base"})
    for source in (before, "goal = 3", after, "goal = 0", before, "seen = goal", after):
        exec(source, space)
    assert (space["goal"], space["seen"]) == (0, 3)
