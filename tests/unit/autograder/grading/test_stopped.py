"""A task's cell that ended early says so: the tests below find only that a name is missing."""

from __future__ import annotations

import nbformat
import pytest

from autograder.grading.stopped import stopped_above


def _cell(source: str, grade_id: str = "", error: tuple[str, str] = ("", ""), **about: bool) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(source)
    if grade_id:
        cell.metadata["nbgrader"] = {"grade_id": grade_id, "locked": False, "grade": False, "solution": False, **about}
    if error[0]:
        trace = ["-----", f"Cell In[3], line {error[1]}\n      1 x"] if error[1] else []
        cell.outputs = [nbformat.v4.new_output("error", ename=error[0], evalue="expected 144", traceback=trace)]
    return cell


def _test(name: str) -> nbformat.NotebookNode:
    return _cell("assert f(1)", name, grade=True, locked=True)


@pytest.mark.parametrize(
    ("source", "error", "told", "told_if_readable"),
    [
        ("def f(:\n    pass", ("SyntaxError", ""), "SyntaxError in line 1: invalid syntax", True),
        ("%time x = 1\nif x:\ny = 2", ("IndentationError", ""), "IndentationError in line 3: expected an", True),
        ("x = 1\ny = 1 / 0", ("ZeroDivisionError", "2"), "ended in ZeroDivisionError in line 2", False),
        ("x = 1", ("SyntaxError", ""), "ended in SyntaxError", False),
        ("x = 1", ("expected144", "1"), "", False),
        ("f()", ("NotImplementedError", "1"), "", False),
        ("x = 1", ("", ""), "", False),
    ],
)
def test_a_cell_that_ended_early_is_named_above_the_test_that_misses_its_names(
    source: str, error: tuple[str, str], told: str, told_if_readable: bool
) -> None:
    cells = [_cell(source, "task", error, solution=True), _test("task-check"), _test("other-check")]
    found = stopped_above(cells, readable=False)
    assert set(found) == ({"task-check"} if told else set())
    assert told in found.get("task-check", "")
    assert bool(stopped_above(cells, readable=True)) == told_if_readable


def test_cells_of_their_own_count_and_locked_ones_do_not() -> None:
    own, locked = _cell("x = (", error=("SyntaxError", "")), _cell("x = (", "given", ("SyntaxError", ""), locked=True)
    found = stopped_above([locked, own, _test("first"), locked, _test("second")], readable=True)
    assert set(found) == {"first"}
    assert found["first"].startswith("cell 2 of the notebook cannot be read as Python")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ModuleNotFoundError", "No module named 'pandas'", "ended in ModuleNotFoundError: No module named 'pandas'"),
        ("NameError", "name 'np' is not defined. Did you mean: 'n'?", "ended in NameError: name 'np' is not defined"),
        ("NameError", "name '144 and 12' is not defined", "ended in NameError"),
        ("ModuleNotFoundError", f"No module named '{'x' * 61}'", "ended in ModuleNotFoundError"),
        ("ValueError", "expected 144", "ended in ValueError"),
    ],
)
def test_of_what_is_missing_the_name_is_told_and_no_other_text(name: str, value: str, told: str) -> None:
    cell = _cell("x = 1", "task", (name, ""), solution=True)
    cell.outputs[0].evalue = value
    assert stopped_above([cell, _test("check")], readable=False) == {"check": f"cell 'task' {told}"}
    assert stopped_above([cell, _test("check")], readable=True) == {}
