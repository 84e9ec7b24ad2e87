"""Data that the student's code has made is what its cell left, until a student's cell makes it something else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.boundary import around, as_left
from autograder.boundary.given_again import made_again
from autograder.boundary.locked import all_statements

STUDENT = """
import numpy as np
calls = []
def fit(x):
    calls.append(1)
    return {"calls": len(calls), "w": np.full(2, float(sum(x)))}
class Model:
    def __init__(self): self.w = []
    def fit(self, x): self.w.append(sum(x))
"""
X, MADE = "X = [1, 2]", "model = fit(X)"


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    as_left._left.clear()
    yield
    as_left._left.clear()


def _run(namespace: dict[str, object], *cells: str) -> dict[str, object]:
    """Run cells, the locked ones among them, which begin with #, with what runs around them."""
    for cell in cells:
        before, after = around.noting(cell) if cell.startswith("#") else ("", "")
        for text in (before, cell, after):
            exec(text, namespace)
    return namespace


def _again(namespace: dict[str, object], *cells: str) -> dict[str, object]:
    return made_again(namespace, [[part for part in cell.splitlines() if part[:1] != "#"] for cell in cells])


def test_it_is_the_object_that_the_cell_made_and_nothing_is_called_again() -> None:
    cells = f"#\n{X}", f"#\n{MADE}"
    namespace = _run({}, STUDENT, *cells)
    assert set(_again(namespace, *cells)) == {"X"}
    assert namespace["calls"] == [1]


SPOILING = {
    "bound anew": "model = {'calls': 1, 'w': np.array([3.0, 3.0])}",
    "an item set": "model['calls'] = 7",
    "an array written to": "model['w'][0] = 0.0",
}


@pytest.mark.parametrize("how", SPOILING)
def test_what_a_students_cell_has_changed_is_made_again(how: str) -> None:
    cells = f"#\n{X}", f"#\n{MADE}"
    namespace = _run({}, STUDENT, *cells, SPOILING[how])
    made = _again(namespace, *cells)["model"]
    assert made is not namespace["model"]
    assert (made["calls"], made["w"].tolist()) == (2, [3.0, 3.0])  # type: ignore[index]


@pytest.mark.parametrize("spoilt", ["X = [5]", "X.append(5)", "def double(x): return [9]"])
def test_what_was_made_of_something_that_was_not_as_it_was_left_is_made_again(spoilt: str) -> None:
    first, second = "#\nX = [1, 2]\ndef double(x): return [2 * i for i in x]", "#\nmodel = fit(double(X))"
    namespace = _run({}, STUDENT, first, spoilt, second)
    texts = [["X = [1, 2]", "def double(x): return [2 * i for i in x]"], ["model = fit(double(X))"]]
    assert made_again(namespace, texts)["model"]["w"].tolist() == [6.0, 6.0]


def test_a_cell_that_stops_before_it_binds_a_name_has_left_nothing() -> None:
    cells = f"#\n{X}", f"#\n{MADE}"
    namespace = _run({}, STUDENT, "model = 'my own'", cells[0])
    before, after = around.noting(cells[1])
    exec(before, namespace)
    exec(after, namespace)
    assert _again(namespace, *cells)["model"] != "my own"


def test_what_a_later_locked_cell_or_a_test_does_to_it_stays() -> None:
    cells = f"#\n{X}", "#\nmodel = Model()", "#\nmodel.fit(X)"
    namespace = _run({}, STUDENT, *cells)
    assert "model" not in _again(namespace, *cells)
    as_left.begin(namespace)
    exec("model.fit(X)", namespace)  # a test
    as_left.note(namespace)
    assert "model" not in _again(namespace, *cells)
    exec("model.w.clear()", namespace)
    assert _again(namespace, *cells)["model"].w == [3]  # type: ignore[attr-defined]


def test_what_is_filled_together_is_kept_together_or_made_again_together() -> None:
    cells = f"#\n{X}", "#\nfound = []\nmodel = Model()", "#\nfor x in X: found.append(model.fit([x]))"
    namespace = _run({}, STUDENT, *cells)
    assert set(_again(namespace, *cells)) <= {"X", "x"}
    exec("found = [0]", namespace)
    made = _again(namespace, *cells)
    assert (made["found"], made["model"].w) == ([None, None], [1, 2])  # type: ignore[attr-defined]


def test_an_object_that_refuses_to_be_looked_at_is_made_again() -> None:
    student = "class Model:\n    def __getattribute__(self, name): raise OSError"
    cells = "#\nX = 1", "#\nmodel = Model()"
    namespace = _run({}, student, *cells)
    assert "model" in _again(namespace, *cells)


def test_the_calls_around_a_cell_name_what_it_binds_and_uses() -> None:
    assert all_statements((MADE,))[0].binds == {"model"}
    assert "(['model'], ['X', 'fit'])" in around.noting(MADE)[1]


def test_large_data_need_not_be_looked_at_whole() -> None:
    student = STUDENT + "\ndef simulate(n): calls.append(n); return list(range(n))"
    cells = "#\nROWS = [[i, i] for i in range(20_000)]", "#\nmodel = fit([3])\nmany = simulate(50_000)"
    namespace = _run({}, student, *cells)
    assert set(_again(namespace, *cells)) == {"ROWS"}
    assert namespace["calls"] == [1, 50_000]


def test_an_object_with_its_own_idea_of_attributes_is_looked_at() -> None:
    student = """
class Net:
    def __init__(self): self.__dict__['d'] = {'w': 1}
    def __getattr__(self, name): return self.__dict__['d'][name]
"""
    cells = "#\nX = 1", "#\nnet = Net()"
    namespace = _run({}, student, *cells)
    assert "net" not in _again(namespace, *cells)
    exec("net.d['w'] = 2", namespace)
    assert "net" in _again(namespace, *cells)


def test_a_built_in_name_of_the_students_own_makes_nothing_of_the_locked_cells() -> None:
    cells = "#\nX = [1, 2]", "#\nerrors = []\nfor x in X: errors.append(abs(fit([x])['w'][0] - 9.0))"
    namespace = _run({}, STUDENT + "\nabs = lambda _: 0.0", *cells)
    assert namespace["errors"] == [0.0, 0.0]
    made = _again(namespace, *cells)
    assert made["errors"] == [8.0, 7.0]
    assert "abs" not in made
    function = "#\ndef off(x): return abs(x)"
    namespace = _run({}, "abs = lambda _: 0.0", function)
    assert made_again(namespace, [["def off(x): return abs(x)"]])["off"](-3) == 3
