"""The standings of tests: the strongest is tried first, each is tried once, and the weakest asks everything."""

from __future__ import annotations

import pytest

from autograder.boundary.given import CLASSES, DATA, FUNCTIONS, IMPORTS, NOTHING
from autograder.execution import Checks
from autograder.grading.standings import Standing, Standings, opened

LOCKED = """
import math
class Point:
    pass
GOAL = Point()
BASE, TOP = 10, 12
def near(a, b): return abs(a - b) < 1e-9
"""


def _standings(test: str, open_cells: tuple[str, ...] = ("def solve(x): return x",)) -> Standings:
    checks = Checks(given={"t": (LOCKED,)}, theirs=frozenset({"solve"}))
    return Standings(checks, {"t": test}, open_cells)


def _all(standings: Standings) -> list[Standing]:
    found = [standings.of["t"]]
    while standings.next(frozenset({"t"})):
        found.append(standings.of["t"])
    return found


@pytest.mark.parametrize(
    ("test", "levels"),
    [
        ("assert solve(1) == 1", [FUNCTIONS]),
        ("assert solve(1) == math.pi", [FUNCTIONS, DATA, IMPORTS, NOTHING]),
        ("assert solve(1) == BASE", [FUNCTIONS, DATA, IMPORTS, NOTHING]),
        ("assert near(solve(1), 1)", [FUNCTIONS, DATA, IMPORTS, NOTHING]),
        ("assert solve(1) is GOAL", [CLASSES, FUNCTIONS]),
    ],
)
def test_the_grader_has_as_much_as_it_can_first(test: str, levels: list[int]) -> None:
    found = [standing.level for standing in _all(_standings(test))]
    assert list(dict.fromkeys(found)) == levels


def test_what_the_grader_has_not_is_made_again_in_the_students_process() -> None:
    last = _all(_standings("assert near(solve(BASE), TOP)"))[-1]
    assert last.level == NOTHING and last.again == {"near", "BASE", "TOP"}


def test_data_that_students_code_mentions_may_be_live_and_one_name_at_a_time() -> None:
    found = _all(_standings("assert solve(BASE) == TOP", ("def solve(x): BASE.append(x)",)))
    assert [standing.live for standing in found if standing.live] == [{"BASE"}]


def test_names_that_are_not_the_students_to_give_are_denied() -> None:
    standings = _standings("assert solve(BASE) == MORE")
    assert standings.denied("t", frozenset({"solve", "MORE", "display"})) == {"MORE"}


def test_a_name_that_an_open_cell_binds_or_declares_global_is_the_students() -> None:
    assert opened(["def f():\n    global state\n    state = 1", "rows = 3", "!!! no python"]) == {"f", "state", "rows"}


def test_the_instructor_is_told_of_functions_that_compare_in_the_students_process() -> None:
    standings = _standings("assert near(solve(BASE), TOP)")
    assert standings.notes("t") == []
    while standings.of["t"].level == FUNCTIONS:
        assert standings.next(frozenset({"t"}))
    assert [note.partition(":")[0] for note in standings.notes("t")] == ["'t'"]
    assert "near runs in the student's process" in standings.notes("t")[0]


def test_data_of_the_students_making_leaves_the_function_that_compares_it_with_the_grader() -> None:
    locked = "table = solve(3)\ndef agrees(i, want): return table[i] == want"
    checks = Checks(given={"t": (locked,)}, theirs=frozenset({"solve"}))
    standings = Standings(checks, {"t": "assert agrees(1, 2)"}, ["def solve(n): return [n]"])
    assert standings.of["t"] == Standing(FUNCTIONS, frozenset({"table"}))
    assert standings.notes("t") == []


def test_what_is_another_in_the_kernel_is_run_widely_first_and_what_is_still_less_is_live() -> None:
    standings = _standings("assert solve(BASE) == TOP")
    assert standings.mend("t", frozenset({"BASE", "TOP"}), frozenset({"BASE"}))
    assert standings.of["t"].wide and not standings.of["t"].live
    assert standings.mend("t", frozenset({"BASE", "TOP"}), frozenset({"BASE"}))
    assert standings.of["t"].level == CLASSES
    assert standings.mend("t", frozenset({"BASE", "TOP"}), frozenset({"BASE"}))
    assert standings.of["t"] == Standing(FUNCTIONS, live=frozenset({"BASE"}), wide=True)
    assert "BASE is data" in standings.notes("t")[0]
    assert not standings.mend("t", frozenset({"TOP"}), frozenset())
    assert not standings.widen(["t"])


@pytest.mark.parametrize(
    ("locked", "test", "named"),
    [
        ("from functools import partial\ndef s(a, b): return solve(a) == b\nsame = partial(s, 1)", "same(2)", ""),
        ("class Judge:\n    def right(self, a): return solve(a) == 1", "Judge().right(3)", "Judge"),
        ("class Point:\n    def __eq__(self, o): return solve(1) == o", "Point()", ""),
        ("made = solve(3)", "made.get(1)", ""),
        ("share = sum(solve(x) == x for x in range(3))", "assert share > 2", ""),
        ("class Box:\n    x = solve(1)\nsame = Box().x == solve(1)", "assert same", "same"),
    ],
)
def test_the_instructor_is_told_of_other_callables_that_compare_there(locked: str, test: str, named: str) -> None:
    checks = Checks(given={"t": (locked,)}, theirs=frozenset({"solve"}))
    notes = Standings(checks, {"t": test}, ["def solve(x): return x"]).notes("t")
    assert [f" {named} runs in" in note for note in notes] == [True] * bool(named)
