"""Which tests go along into the student's kernel, and of which a second look at the instructor's notebook is tried."""

from __future__ import annotations

import pytest

from autograder.grading.along import looks, taken_along
from autograder.model import CellSpec


def rows(**tests: str) -> list[CellSpec]:
    return [CellSpec(name, "code", text, "", True, True, False, False, 1.0) for name, text in tests.items()]


def hidden(text: str) -> str:
    return f"### BEGIN HIDDEN TESTS\n{text}\n### END HIDDEN TESTS"


TABLE = f"table = {{1: 1}}\n{hidden('table[12] = 144')}"


@pytest.mark.parametrize(
    ("first", "second", "along"),
    [
        (TABLE, "assert f(12) == table[12]", "d"),
        (TABLE, "table = {}\nassert f(table) == 1", ""),
        (f"xs = [1]\n{hidden('assert f(17) == 289')}", "assert f(xs)", ""),
        (f"{hidden('n = 12')}\nxs = [n]", "assert f(xs)", "d"),
        (hidden("n = 12"), "assert f(n)", "d"),
        ("table = {1: 1}", "assert table", ""),
    ],
)
def test_a_test_takes_along_those_whose_hidden_lines_give_a_name_its_meaning(
    first: str, second: str, along: str
) -> None:
    assert taken_along(rows(d=first, e=second)) == {"d": frozenset(), "e": frozenset(along)}


def test_it_does_so_by_way_of_others_too() -> None:
    found = taken_along(rows(d=TABLE, b="outs = [f(n) for n in table]", e="outs = outs + [1]\nassert outs"))
    assert found["e"] == {"d"}


def test_no_test_is_looked_at_together_with_one_that_it_needs() -> None:
    tests = rows(a="x = [1]\nassert f(x)", b="y = f(x)", c="y += 1", d="z = g(y)", e="f(z)", k="assert f([2]) == [3]")
    everything = {row.grade_id for row in tests}
    assert looks(tests, everything, {"f", "g"}) == [frozenset("ak"), frozenset("b"), frozenset("cde")]
    assert looks(tests, everything - {"a", "k"}, {"f", "g"}) == [frozenset("b"), frozenset("cde")]


@pytest.mark.parametrize(
    ("test", "may"),
    [
        ("assert f(2) == 4\nassert abs(f(-1) - 1) < 1e-6", False),
        ("y = f('a')\nassert y == 'b'", False),
        ("assert f([1]) == 1", True),
        ("y = f(2)\ny += 1", True),
        ("y = f(2)\ny[0] = 1", True),
        ("f(2).append(1)", True),
        ("try:\n    f(2)\nexcept TypeError:\n    pass", True),
        ("%%time\nf([1])", True),
        ("!ls\nf([1])", True),
        ("assert f([1]", True),
    ],
)
def test_a_test_that_hands_over_numbers_and_changes_nothing_is_not_looked_at(test: str, may: bool) -> None:
    assert bool(looks(rows(a=test), {"a"}, {"f"})) == may
