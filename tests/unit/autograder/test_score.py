"""What a cell left behind becomes points, nothing is given for what cannot be read, and nbgrader says the same."""

from __future__ import annotations

import math
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course import nbgrader_points
from autograder.model import CellScore, SourceCellRow
from autograder.score import MIME, score_notebook
from labkit._report import Case, Score

CHECKED = "from labkit import check\nwith check.case('c'):\n    pass\ncheck.score(2)"
ASSERTS = "assert f(1) == 1"


def row(source: str = CHECKED, **options: Any) -> SourceCellRow:
    usual: dict[str, Any] = {
        "grade_id": "a-check", "cell_type": "code", "source": source, "checksum": "", "locked": True, "grade": True,
        "solution": False, "task": False, "points": 2.0,
    }  # fmt: skip
    return SourceCellRow(**(usual | options))


def executed(outputs: list[Any], of: SourceCellRow, count: int | None = 1) -> nbformat.NotebookNode:
    make = nbformat.v4.new_code_cell if of.cell_type == "code" else nbformat.v4.new_markdown_cell
    cell = make(of.source, metadata=of.metadata())
    if of.cell_type == "code":
        cell.outputs, cell.execution_count = outputs, count
    return nbformat.v4.new_notebook(cells=[cell])


def scored(outputs: list[Any], source: str = CHECKED, count: int | None = 1) -> CellScore:
    """Score one cell, and check that nbgrader now gives the same points."""
    of = row(source)
    notebook = executed(outputs, of, count)
    (score,) = score_notebook("lab", notebook, [of])
    assert nbgrader_points(notebook.cells[0]) == score.points
    assert 0 <= (score.points or 0) <= of.points
    nbformat.validate(notebook)
    return score


def result(text: Any = "1.0", **data: Any) -> Any:
    return nbformat.v4.new_output("execute_result", {"text/plain": text, **data}, execution_count=1)


def bundle(report: Any, text: Any = "1.0") -> Any:
    return result(text, **{MIME: report})


def case(passed: Any = True, weight: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {
        "title": "t",
        "passed": passed,
        "message": "m",
        "hint": "h",
        "hidden": False,
        "weight": weight,
        "error": "",
        **more,
    }


def error(name: str = "ValueError", value: str = "no") -> Any:
    return nbformat.v4.new_output("error", ename=name, evalue=value, traceback=[])


def stream(name: str, text: str = "careful") -> Any:
    return nbformat.v4.new_output("stream", name=name, text=text)


def report(*cases: Any, **more: Any) -> dict[str, Any]:
    return {"protocol": 1, "points": 1.0, "max_points": 2.0, "cases": list(cases), **more}


# --------------------------------------------------------------------------------------------------- our own protocol
def test_credit_is_the_weighted_share_of_the_cases() -> None:
    score = scored([bundle(report(case(), case(False, 3.0)), "0.5")])
    assert (score.points, score.max_points, score.message) == (0.5, 2.0, "")
    assert [c["passed"] for c in score.cases] == [True, False]


def test_a_score_of_labkit_is_read_as_it_was_written() -> None:
    for passed in (True, False):
        written = Score(
            2, (Case("one", True), Case("two", passed, "expected 1, got 2", "h", error="Mismatch", weight=2))
        )
        data = written._repr_mimebundle_()
        score = scored([nbformat.v4.new_output("execute_result", data, execution_count=1)])
        assert score.points == float(written)
        assert [c["title"] for c in score.cases] == ["one", "two"]


def test_a_warning_on_stderr_costs_nothing() -> None:
    assert scored([stream("stderr"), bundle(report(case()), "2.0"), stream("stderr")]).points == 2.0


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([], "the checks did not reach their score"),
        ([stream("stdout", "2.0")], "the checks did not reach their score"),
        ([stream("stderr")], "the checks did not reach their score"),
        ([result("2.0")], "the checks did not reach their score"),
        ([bundle(report(case())), bundle(report(case()))], "the checks did not reach their score"),
        ([error()], "ValueError: no"),
        ([bundle(report(case())), error()], "ValueError: no"),
        ([error(), bundle(report(case()))], "ValueError: no"),
        ([error("NotRun", "time was over")], "NotRun: time was over"),
        ([error("X" * 9999, "")], "X" * 2000),
        ([bundle(None)], "the checks did not reach their score"),
        ([bundle("full marks")], "the checks' report cannot be read (TypeError)"),
        ([bundle([])], "the checks' report cannot be read (TypeError)"),
        ([bundle({})], "the checks' report cannot be read (KeyError)"),
        ([bundle(report())], "the checks' report cannot be read (ZeroDivisionError)"),
        ([bundle(report(3))], "the checks' report cannot be read (TypeError)"),
        ([bundle(report({}))], "the checks' report cannot be read (KeyError)"),
        ([bundle({"cases": 3})], "the checks' report cannot be read (TypeError)"),
        ([bundle(report(case("yes")))], "the checks' report cannot be read (ValueError)"),
        ([bundle(report(case(1)))], "the checks' report cannot be read (ValueError)"),
        ([bundle(report(case(weight=-1)))], "the checks' report cannot be read (ValueError)"),
        ([bundle(report(case(weight=0)))], "the checks' report cannot be read (ValueError)"),
        ([bundle(report(case(weight="nan")))], "the checks' report cannot be read (ValueError)"),
        ([bundle(report(case(weight=math.inf)))], "the checks' report cannot be read (ValueError)"),
        ([bundle(report(case(weight=1e308), case(weight=1e308)))], "the checks' report cannot be read (OverflowError)"),
        ([bundle(report(case(weight=None)))], "the checks' report cannot be read (TypeError)"),
        ([bundle(report(case(weight=10**400)))], "the checks' report cannot be read (OverflowError)"),
    ],
)
def test_what_does_not_arrive_or_cannot_be_read_earns_nothing(outputs: list[Any], message: str) -> None:
    score = scored(outputs)
    assert (score.points, score.message) == (0.0, message)


@pytest.mark.parametrize("claim", [100.0, -1, math.nan, "2", None])
def test_the_points_that_a_report_claims_are_not_believed(claim: Any) -> None:
    assert scored([bundle(report(case(), case(False), points=claim, max_points=claim), str(claim))]).points == 1.0


@pytest.mark.parametrize("end", ["check.score(2);", "check.score(2)  # done", "check.score(3)", "check.score(2)\n\n"])
def test_a_cell_that_ends_in_a_score_needs_its_report(end: str) -> None:
    assert scored([], f"x = 1\n{end}").points == 0.0


def test_a_report_is_cut_to_a_readable_length() -> None:
    long = "x" * 10**5
    score = scored([bundle(report(case(False, message=long, title=long, hint=long)))])
    assert all(len(score.cases[0][key]) == 2000 for key in ("title", "message", "hint"))


# ------------------------------------------------------------------------------------------------- nbgrader's own cells
@pytest.mark.parametrize(
    ("outputs", "points"),
    [
        ([], 2.0),
        ([stream("stdout")], 2.0),
        ([stream("stderr")], 2.0),
        ([result("1.5")], 1.5),
        ([result("0")], 0.0),
        ([result("2")], 2.0),
        ([result("'all tests passed'")], 2.0),
        ([result("True")], 2.0),
        ([result("None")], 2.0),
        ([result("-0.5")], 0.0),
        ([result("2.5")], 0.0),
        ([result("nan")], 0.0),
        ([result("inf")], 0.0),
        ([result("-inf")], 0.0),
        ([result("1e400")], 0.0),
        ([result("2"), result("2")], 0.0),
        ([error()], 0.0),
        ([result("2"), error()], 0.0),
        ([nbformat.v4.new_output("execute_result", {"image/png": "AAAA"}, execution_count=1)], 2.0),
        ([nbformat.v4.new_output("execute_result", {}, execution_count=1)], 2.0),
        ([nbformat.v4.new_output("display_data", {"text/plain": "1.0"})], 2.0),
    ],
)
def test_a_cell_of_assertions_is_read_as_nbgrader_reads_it_but_fails_closed(outputs: list[Any], points: float) -> None:
    assert scored(outputs, ASSERTS).points == points


def test_a_cell_that_did_not_run_earns_nothing() -> None:
    score = scored([], ASSERTS, count=None)
    assert (score.points, score.message) == (0.0, "the cell did not run")


def test_a_message_says_why_a_number_was_not_taken() -> None:
    assert scored([result("7")], ASSERTS).message == "the cell ended in 7, which is not between 0 and 2"
    assert scored([result("1"), result("2")], ASSERTS).message == "the cell had 2 results, not one"


# ----------------------------------------------------------------------------------------------------------- both laws
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
CASE = st.fixed_dictionaries(
    {
        "title": st.text(max_size=3),
        "passed": st.booleans() | JSON,
        "message": JSON,
        "hint": JSON,
        "hidden": JSON,
        "weight": st.floats() | st.integers() | JSON,
        "error": JSON,
    }
)
REPORTS = st.fixed_dictionaries({"cases": st.lists(CASE | JSON, max_size=3) | JSON}) | JSON
NUMBERS = st.floats().map(repr) | st.sampled_from(["1_0", " 1 ", "0x1", "1.", "True", "'2'", ""]) | st.text(max_size=4)
OUTPUTS = st.lists(
    st.one_of(
        st.builds(stream, st.sampled_from(["stdout", "stderr"])),
        st.builds(error),
        st.builds(result, NUMBERS),
        st.builds(bundle, REPORTS, NUMBERS),
        st.builds(lambda text: nbformat.v4.new_output("display_data", {"text/plain": text}), NUMBERS),
    ),
    max_size=3,
)


@given(OUTPUTS, st.sampled_from([CHECKED, ASSERTS]), st.sampled_from([None, 1]))
def test_our_points_and_nbgrader_s_agree_whatever_the_cell_left_behind(
    outputs: list[Any], source: str, count: int | None
) -> None:
    scored(outputs, source, count)


@given(st.lists(st.tuples(st.booleans(), st.floats(0.001, 1e6)), min_size=1, max_size=9))
def test_full_marks_are_for_cells_in_which_every_case_passed(cases: list[tuple[bool, float]]) -> None:
    score = scored([bundle(report(*(case(passed, weight) for passed, weight in cases)))])
    if all(passed for passed, _ in cases):
        assert score.points == 2.0
    if not any(passed for passed, _ in cases):
        assert score.points == 0.0


# ------------------------------------------------------------------------------------------------------ the other cells
def test_a_missing_cell_earns_nothing() -> None:
    (score,) = score_notebook("lab", nbformat.v4.new_notebook(), [row()])
    assert (score.points, score.message) == (0.0, "the cell is missing")


def test_a_written_answer_waits_for_a_person_and_a_blank_one_earns_nothing() -> None:
    from autograder.course import checksum

    written = row("Because.", cell_type="markdown", solution=True, locked=False)
    notebook = executed([], written)
    notebook.cells[0].metadata.nbgrader.checksum = "another"
    assert score_notebook("lab", notebook, [written])[0].points is None
    notebook.cells[0].metadata.nbgrader.checksum = checksum(notebook.cells[0])
    assert score_notebook("lab", notebook, [written])[0].points == 0.0


def test_a_task_cell_waits_for_a_person() -> None:
    task = row("Draw.", cell_type="markdown", grade=False, task=True)
    assert score_notebook("lab", executed([], task), [task]) == [CellScore("lab", "a-check", None, 2.0)]


def test_a_solution_cell_has_no_score() -> None:
    solution = row("x = 1", grade=False, solution=True)
    assert score_notebook("lab", executed([], solution), [solution]) == []
