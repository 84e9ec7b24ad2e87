"""What a test hands over again is the same object in the student's process, as long as neither side has changed it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.autograder.boundary.talk import Talk

GIVEN: dict[str, Any] = {"cells": [], "theirs": [], "level": 2, "withheld": [], "tried": True}
STUDENT = """
seen = []
def same(x):
    seen.append(x)
    return sum(x is old for old in seen[:-1])
def change(x):
    seen.append(x)
    (x.append if isinstance(x, list) else x.setdefault)(0)
def within(xs):
    return same(xs[0])
"""


def _value(talk: Talk, source: str, **given: Any) -> str:
    result = talk.test(source, given=GIVEN | given)
    assert result["error"] is None, result["error"]
    return str(result["bundle"].get("text/plain"))


@pytest.mark.parametrize("made", ["[1, 2.5, 'a']", "{'a': [1]}", "{1, 2}", "[[1], [2]]", "bytearray(b'ab')"])
def test_it_is_the_same_object_if_nobody_has_changed_it(made: str, talk: Talk) -> None:
    talk.code(STUDENT)
    assert _value(talk, f"x = {made}\nsame(x), same(x), same({made}), same(x)") == "(0, 1, 0, 2)"
    assert talk.value(f"x = {made}\n(same(x), same(x))") == "(0, 0)", "a test of the course's own is given copies"


def test_what_lies_in_it_is_the_same_object_too(talk: Talk) -> None:
    talk.code(STUDENT)
    assert _value(talk, "row = [1]\nsame(row), within([row, [2]]), same(row)") == "(0, 1, 2)"


def test_what_either_side_has_changed_is_a_copy(talk: Talk) -> None:
    talk.code(STUDENT)
    assert _value(talk, "x = [1]\nfirst = same(x)\nx.append(2)\nfirst, same(x), len(x)") == "(0, 0, 2)"
    talk.code(STUDENT)
    assert _value(talk, "x = [1]\nchange(x)\nsame(x), x") == "(0, [1])"


def test_the_student_s_end_cannot_claim_a_place(talk: Talk) -> None:
    """What comes from there is what it says, whatever place it names."""
    talk.code(STUDENT)
    encode = talk.student.place_of
    talk.student.place_of = lambda value: (1, 0) if isinstance(value, list) else encode(value)  # type: ignore[method-assign]
    talk.code("def f(x): return [9]")
    assert _value(talk, "x = [1]\nf(x), x") == "([9], [1])"
