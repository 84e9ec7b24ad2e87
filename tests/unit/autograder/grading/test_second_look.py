"""What becomes of a test that met an object of another class than the instructor's, or that may mean less apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import nbformat
import pytest

from autograder.course import nbgrader_points
from autograder.execution import Checks, Execution
from autograder.execution.results import Failure, Report
from autograder.grading.second_look import About, second_look
from autograder.model import CellScore


def scores(**points: float | None) -> list[CellScore]:
    return [CellScore("lab", name, earned, 2.0) for name, earned in points.items()]


def looked(
    report: Report,
    first: Sequence[CellScore],
    other: Sequence[CellScore],
    *,
    forged: bool = False,
    late: bool = False,
    about: About | None = None,
) -> tuple[list[float | None], list[str], list[Checks]]:
    asked: list[Checks] = []

    def again(checks: Checks) -> tuple[Execution, Sequence[CellScore]]:
        asked.append(checks)
        return Execution(nbformat.v4.new_notebook(), True, forged=("x",) if forged else (), late=late), other

    names = frozenset(score.grade_id for score in first)
    execution = Execution(nbformat.v4.new_notebook(), True, isolated=names, reports={report.grade_id: report})
    counted, said = second_look(execution, first, Checks(isolated=names), again, about or About())
    return [score.points for score in counted], said, asked


def test_a_plain_loss_is_not_looked_at_again() -> None:
    assert looked(Report("x"), scores(x=0.0), []) == ([0.0], [], [])
    assert looked(Report("x", met=True), scores(x=2.0), []) == ([2.0], [], [])


def test_a_person_is_told_what_the_kernel_would_have_given_and_nothing_is_earned_by_that() -> None:
    points, said, asked = looked(Report("x", met=True), scores(x=0.0, y=1.0), scores(x=2.0, y=2.0))
    assert points == [0.0, 1.0]
    assert len(said) == 1 and "'x': 0 of 2 apart from the student's code, 2 as in one process" in said[0]
    assert (set(asked[0].isolated), set(asked[0].guarded)) == ({"y"}, {"x"})


def test_a_forged_second_run_gives_nothing_and_is_told_to_a_person() -> None:
    points, said, *_ = looked(Report("x", met=True), scores(x=0.0), scores(x=2.0), forged=True)
    assert points == [0.0]
    assert [text for text in said if "a check that must fail did not" in text] == said != []


@pytest.mark.parametrize("why", ["altered", "refused", "rewritten", "written"])
@pytest.mark.parametrize(("other", "counts"), [(0.0, 0.0), (2.0, 2.0), (1.0, 1.0)])
def test_where_the_test_may_mean_less_apart_the_lower_one_counts(why: str, other: float, counts: float) -> None:
    seen: dict[str, Any] = {why: True}
    points, said, _ = looked(Report("x", **seen), scores(x=2.0), scores(x=other))
    assert points == [counts]
    assert bool(said) == (counts < 2.0)


def test_where_it_is_run_again() -> None:
    for why in ("altered", "rewritten", "written"):
        seen: dict[str, Any] = {why: True}
        (checks,) = looked(Report("x", **seen), scores(x=2.0, y=2.0), scores(x=2.0))[2]
        assert (set(checks.isolated), set(checks.guarded), set(checks.mirrors)) == ({"x", "y"}, set(), {"x"}), why
    (checks,) = looked(Report("x", refused=True), scores(x=2.0, y=2.0), scores(x=2.0))[2]
    assert (set(checks.isolated), set(checks.guarded), set(checks.mirrors)) == ({"y"}, {"x"}, set())
    asked = looked(Report("x", refused=True, altered=True), scores(x=2.0), scores(x=2.0))[2]
    assert [(set(checks.guarded), set(checks.mirrors)) for checks in asked] == [({"x"}, set()), (set(), {"x"})]


@pytest.mark.parametrize("why", ["altered", "rewritten", "written"])
def test_a_test_with_hidden_lines_stays_apart_and_what_both_have_is_one_object(why: str) -> None:
    seen: dict[str, Any] = {why: True}
    about = About(frozenset("x"))
    points, said, asked = looked(Report("x", **seen), scores(x=2.0, y=1.0), scores(x=0.5, y=2.0), about=about)
    assert points == [0.5, 1.0]
    assert len(said) == 1 and said[0].endswith("graded as in one process: 0.5 of 2, 2 apart from it")
    (checks,) = asked
    assert (set(checks.isolated), set(checks.guarded), set(checks.mirrors)) == ({"x", "y"}, set(), {"x"})


@pytest.mark.parametrize("why", ["altered", "rewritten", "written", "refused"])
def test_a_look_that_was_stopped_is_no_verdict(why: str) -> None:
    seen: dict[str, Any] = {why: True}
    points, said, _ = looked(Report("x", **seen), scores(x=2.0), scores(x=0.0), late=True)
    assert points == [2.0]
    assert len(said) == 1 and said[0].endswith(
        "it was stopped where it was run once more, which says nothing: look at it"
    )


def test_of_a_test_with_hidden_lines_that_loses_a_person_is_told_what_it_gives_as_in_one_process() -> None:
    about = About(frozenset("x"))
    points, said, asked = looked(Report("x", altered=True), scores(x=0.0), scores(x=2.0), about=about)
    assert (points, set(asked[0].mirrors), set(asked[0].guarded)) == ([0.0], {"x"}, set())
    assert len(said) == 1 and "0 of 2 apart from the student's code, 2 as in one process" in said[0]


def test_nothing_that_student_code_does_brings_hidden_lines_into_the_kernel() -> None:
    flags = ("met", "altered", "rewritten", "refused", "written")
    every: list[dict[str, Any]] = [{name: True} for name in flags] + [dict.fromkeys(flags, True)]
    for seen in every:
        for earned in (0.0, 1.0, 2.0):
            _, _, asked = looked(Report("x", **seen), scores(x=earned), scores(x=0.0), about=About(frozenset("x")))
            assert all(not checks.guarded and checks.isolated == {"x"} for checks in asked)


def test_of_what_only_the_kernel_would_show_a_person_is_told() -> None:
    about = About(frozenset("x"))
    points, said, asked = looked(Report("x", refused=True), scores(x=2.0), [], about=about)
    assert (points, asked) == ([2.0], [])
    assert len(said) == 1 and said[0].endswith("in one process it might give less: look at it")
    for failure, told in ((Failure("TypeError"), 1), (Failure("AssertionError"), 0), (Failure("NameError"), 0)):
        points, said, asked = looked(Report("x", met=True, failure=failure), scores(x=0.0), [], about=about)
        assert (points, asked, len(said)) == ([0.0], [], told)
        assert all("an object of another class than yours?" in line for line in said)
    failure = Failure("AssertionError", "assignment destination is read-only")
    assert len(looked(Report("x", failure=failure), scores(x=0.0), [], about=about)[1]) == 1


def test_no_loss_counts_where_the_instructor_s_own_notebook_has_one() -> None:
    about = About(lowered=frozenset("x"))
    assert looked(Report("x", altered=True), scores(x=2.0), scores(x=0.0), about=about) == ([2.0], [], [])
    points, said, _ = looked(Report("x", met=True), scores(x=1.0), scores(x=2.0), about=about)
    assert (points, len(said)) == ([1.0], 1)


def test_a_cell_that_a_person_grades_is_left_alone() -> None:
    assert looked(Report("x", met=True), scores(x=0.0, essay=None), scores(x=0.0, essay=None))[0] == [0.0, None]


def test_what_is_stored_gives_nbgrader_the_points_that_count_and_says_nothing_of_the_kernels() -> None:
    cell = nbformat.v4.new_code_cell(metadata={"nbgrader": {"grade_id": "x", "grade": True, "points": 2.0}})
    cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "2.0"}, execution_count=1)]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    first = Execution(notebook, True, isolated=frozenset("x"), reports={"x": Report("x", altered=True)})
    there = [replace(scores(x=1.0)[0], message="hidden: 42", cases=({"passed": False},))]
    other = Execution(nbformat.v4.new_notebook(), True)
    (score,), _ = second_look(
        first, scores(x=2.0), Checks(isolated=frozenset("x")), lambda _checks: (other, there), About()
    )
    assert nbgrader_points(notebook.cells[0]) == score.points == 1.0
    assert "42" not in str(notebook) + str(score)
    assert score.cases == ()
