"""Answers stand in one notebook only where each check that one of them fails is blind to the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat

from autograder.release.answers import Variant
from tests.labs.together import answer_of, groups, notebook_of

CELLS = {
    "one": "def one():\n    return 1",
    "one-check": "assert one() == 1",
    "two": "def two():\n    return 2",
    "two-check": "assert two() == 2",
    "three": "def three():\n    return one() + 2",
    "three-check": "assert three() == 3",
}


def _whole() -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[_cell(name, source) for name, source in CELLS.items()])


def _cell(name: str, source: str) -> Any:
    graded = name.endswith("-check")
    about = {"grade_id": name, "grade": graded, "solution": not graded, "locked": graded, "schema_version": 3}
    return nbformat.v4.new_code_cell(source, id=name, metadata={"nbgrader": about | ({"points": 1} if graded else {})})


def _grouped(**answers: tuple[str, tuple[str, ...]]) -> list[set[str]]:
    whole = _whole()
    made = [answer_of(whole, Variant(Path(name), code, "", fails)) for name, (code, fails) in answers.items()]
    return [{answer.variant.name for answer in group} for group in groups(whole, made)]


ONE = ("def one():\n    return 0\n", ("one-check", "three-check"))
TWO = ("def two():\n    return 0\n", ("two-check",))
THREE = ("def three():\n    return 0\n", ("three-check",))


def test_answers_of_tasks_that_know_nothing_of_each_other_go_together() -> None:
    assert _grouped(one=ONE, two=TWO) == [{"one", "two"}]


def test_two_answers_of_one_task_do_not() -> None:
    assert len(_grouped(a=TWO, b=TWO)) == 2


def test_an_answer_that_a_failing_check_of_another_sees_is_tried_apart() -> None:
    assert _grouped(one=ONE, three=THREE) == [{"one"}, {"three"}]


def test_what_an_answer_calls_that_the_solution_does_not_counts_as_well() -> None:
    calls = ("def two():\n    return one() - 1\n", ("two-check",))
    assert _grouped(one=ONE, two=calls) == [{"one"}, {"two"}]


def test_tests_that_see_no_answer_are_empty_in_the_notebook_that_is_run() -> None:
    whole = _whole()
    group = [answer_of(whole, Variant(Path("two"), TWO[0], "", TWO[1]))]
    sources = {cell.id: cell.source for cell in notebook_of(whole, group).cells}
    assert [name for name, source in sources.items() if not source] == ["one-check", "three-check"]
    assert sources["two"] == TWO[0].strip()
    assert [cell.source for cell in whole.cells] == list(CELLS.values())
