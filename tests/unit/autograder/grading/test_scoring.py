"""What a cell left behind becomes points, nothing is given for what cannot be read, and nbgrader says the same."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course import nbgrader_points
from autograder.execution.results import Execution, Failure, Report
from autograder.grading.scoring import score_notebook
from autograder.model import CellScore, CellSpec
from autograder.protocol import MIME
from labkit._check_report import Case, Score

CHECKED = "from labkit import check\nwith check.case('c'):\n    pass\ncheck.score(2)"
ASSERTS = "assert f(1) == 1\nf(2)"
"""Ends in a value."""


def row(source: str = CHECKED, **options: Any) -> CellSpec:
    usual: dict[str, Any] = {
        "grade_id": "a-check", "cell_type": "code", "source": source, "checksum": "", "locked": True, "grade": True,
        "solution": False, "task": False, "points": 2.0,
    }  # fmt: skip
    return CellSpec(**(usual | options))


def executed(outputs: list[Any], of: CellSpec, count: int | None = 1, **more: Any) -> Execution:
    make = nbformat.v4.new_code_cell if of.cell_type == "code" else nbformat.v4.new_markdown_cell
    cell = make(of.source, metadata=of.metadata())
    if of.cell_type == "code":
        cell.outputs, cell.execution_count = outputs, count
    return Execution(nbformat.v4.new_notebook(cells=[cell]), complete=True, **more)


def scored(outputs: list[Any], source: str = CHECKED, count: int | None = 1, **more: Any) -> CellScore:
    """Score one cell, and check that nbgrader now gives the same points."""
    return scored_cell(outputs, source, count, **more)[0]


def scored_cell(
    outputs: list[Any], source: str = CHECKED, count: int | None = 1, **more: Any
) -> tuple[CellScore, nbformat.NotebookNode]:
    """Score one cell; return the cell too."""
    of = row(source)
    execution = executed(outputs, of, count, **more)
    (score,) = score_notebook("lab", execution, [of])
    (cell,) = execution.notebook.cells
    assert nbgrader_points(cell) == score.points
    assert 0 <= (score.points or 0) <= of.points
    nbformat.validate(execution.notebook)
    data = [key for output in cell.outputs for key in output.get("data", {})]
    assert set(data) <= {"text/plain", "text/html", "image/png"}
    return score, cell


def apart(outputs: list[Any], source: str = CHECKED, **report: Any) -> tuple[CellScore, nbformat.NotebookNode]:
    """Score a cell that ran apart from the student's code, which left these outputs in the notebook."""
    reports = {"a-check": Report("a-check", **report)} if report else {}
    return scored_cell(outputs, source, isolated=frozenset({"a-check"}), reports=reports)


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


@pytest.mark.parametrize(("cases", "points"), [
    ([case(essential=True), case(False)], 1.0), ([case(False, essential=True), *[case()] * 3], 1.0),
    ([case(False, 9.0, essential=True), case()], 0.2), ([case(essential=True), case()], 2.0),
])  # fmt: skip
def test_without_an_essential_case_at_most_half_counts(cases: list[dict[str, Any]], points: float) -> None:
    assert scored([bundle(report(*cases))]).points == points


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


@pytest.mark.parametrize(
    ("given", "said"), [("0", "the test gave 0 of 2 points"), ("0.5", "the test gave 0.5 of 2 points")]
)
def test_a_test_that_gives_a_part_says_so_and_is_no_answer_that_is_not_there(given: str, said: str) -> None:
    assert scored([result(given)], ASSERTS).message == said
    assert apart([], ASSERTS, value=given)[0].message == said
    hidden = f"{ASSERTS}\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS\n1"
    assert scored([result(given)], hidden).message == ("no points in a hidden test" if given == "0" else "")


def test_an_assertion_without_words_shows_its_line_where_the_student_has_it() -> None:
    message = "AssertionError in line 1: assert f(1) == 1"
    assert apart([], ASSERTS, failure=Failure("AssertionError", line=1))[0].message == message
    trace = ["\x1b[31m---\x1b[39m", "Cell In[7], line 1\n----> 1 assert f(1) == 1", "Cell In[3], line 2, in f(a)"]
    left = nbformat.v4.new_output("error", ename="AssertionError", evalue="", traceback=trace)
    assert scored([left], ASSERTS).message == message
    hidden = f"{ASSERTS}\n### BEGIN HIDDEN TESTS\nassert f(3) == 9\n### END HIDDEN TESTS"
    assert apart([], hidden, failure=Failure("AssertionError", line=1))[0].message == message
    assert "f(3)" not in apart([], hidden, failure=Failure("AssertionError", line=4))[0].message
    assert apart([], ASSERTS, failure=Failure("AssertionError", line=9))[0].message == "AssertionError"


# ------------------------------------------------------------------------------- cells that ran apart from the student
def test_of_a_cell_that_ran_apart_nothing_that_lies_in_the_notebook_counts() -> None:
    forged = [bundle(report(case())), result("2.0"), stream("stdout", "2.0")]
    for source in (CHECKED, ASSERTS):
        score, cell = apart(forged, source)
        assert (score.points, score.message) == (0.0, "the test did not report")
        assert "2.0" not in [output.get("data", {}).get("text/plain") for output in cell.outputs]
    failed, _ = apart(forged, cases=(case(False), case(), case(), case()))
    assert failed.points == 1.5
    passed, _ = apart([error()], cases=(case(),))
    assert passed.points == 2.0, "nor does it cost anything"


def test_the_report_of_another_cell_is_none_of_this_one() -> None:
    reports = {"another": Report("another", cases=(case(),))}
    assert scored([], isolated=frozenset({"a-check"}), reports=reports).points == 0.0


def test_the_table_of_cases_is_made_here_of_escaped_texts_and_hides_what_is_hidden() -> None:
    live = "<script>alert(1)</script>$\\href{x}$\x1b[2J"
    cases = (case(False, title=live, message=live, hint=live), case(False, hidden=True, message="17"))
    score, cell = apart([stream("stdout", "of the student")], cases=cases, value="<b>", printed="of the test")
    texts = [output.get("text", "") for output in cell.outputs]
    table = cell.outputs[-1].data["text/html"]
    assert texts[:2] == ["of the student", "of the test"]
    assert cell.outputs[-1].data["text/plain"] == "0.0" == str(score.points)
    assert "<script" not in table
    assert "\x1b" not in table
    assert "&lt;script&gt;" in table
    assert "17" not in table
    assert table.startswith("<div class='tex2jax_ignore mathjax_ignore'>"), "MathJax leaves it alone"


@pytest.mark.parametrize(("value", "points"), [(None, 2.0), ("1.5", 1.5), ("'done'", 2.0), ("7", 0.0), ("nan", 0.0)])
def test_the_value_of_a_cell_that_ran_apart_is_read_as_nbgrader_reads_it(value: str | None, points: float) -> None:
    assert apart([result("1")], ASSERTS, value=value)[0].points == points


def test_an_error_of_a_cell_that_ran_apart_stays_one_without_control_characters() -> None:
    score, cell = apart(
        [], failure=Failure("ValueError\x1b[0m", "no\x07", ("line 2 of the test", "\x1b[2J" + "x" * 10**6))
    )
    assert (score.points, score.message) == (0.0, "ValueError: no")
    (left,) = cell.outputs
    assert (left.output_type, left.ename, left.evalue) == ("error", "ValueError", "no")
    assert len(str(left)) < 30_000
    assert "\x1b" not in str(left)


# -------------------------------------------------------------------------------------------- what students read of it
HIDDEN = "assert f(1) == 2\n### BEGIN HIDDEN TESTS\nassert f(3) == 17\n### END HIDDEN TESTS\nassert f(4) == wanted"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (1, "AssertionError: DESIRED: 17"),
        (2, "AssertionError in a hidden test"),
        (3, "AssertionError in a hidden test"),
        (5, "AssertionError in a hidden test"),  # below a hidden block names may be hidden ones
        (0, "AssertionError in a hidden test"),
    ],
)
def test_what_a_hidden_test_says_is_the_grader_s_alone(line: int, message: str) -> None:
    failure = Failure("AssertionError", "DESIRED: 17", (f"line {line} of the test", "DESIRED: 17"), line=line)
    score, cell = apart([], HIDDEN, failure=failure)
    assert score.message == message
    assert score.whole == ("" if "17" in message else "AssertionError: DESIRED: 17"), "the table of grade says it"
    assert "17" in str(cell.outputs), "formgrader's reader sees it"


@pytest.mark.parametrize("trace", [["Cell \x1b[0;32mIn[5], line 1\x1b[0m"], ["Cell In[5], line 3"], ["no line at all"]])
@pytest.mark.parametrize("name", ["AssertionError", "assert f(3) == 17", "KeyError"])
def test_nothing_is_shown_of_one_that_ran_in_the_student_s_kernel(trace: list[str], name: str) -> None:
    """The student's code can read the cell there: text and class of what it raises may spell the hidden test."""
    left = nbformat.v4.new_output("error", ename=name, evalue="17", traceback=trace)
    score = scored([left], HIDDEN)
    assert (score.message, score.whole) == ("an error in a hidden test", f"{name}: 17")


def test_nor_of_one_beside_it_in_the_kernel_where_what_was_read_may_be_said() -> None:
    cells = [
        nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": name}}, execution_count=1)
        for name, source in {"hides": HIDDEN, "visible": ASSERTS}.items()
    ]
    cells[1].outputs = [nbformat.v4.new_output("error", ename="ValueError", evalue="17", traceback=["line 1"])]
    rows = [row(HIDDEN, grade_id="hides"), row(ASSERTS, grade_id="visible")]
    secret = "an error: what it says is not shown, because tests with hidden lines ran beside your code"
    for isolated, said in ((frozenset(), secret), ({"hides"}, "ValueError: 17")):
        execution = Execution(
            nbformat.v4.new_notebook(cells=copy.deepcopy(cells)), complete=True, isolated=frozenset(isolated)
        )
        _, visible = score_notebook("lab", execution, rows)
        assert visible.message == said, "it has no hidden line, and nobody is told of one"
        assert visible.whole == ("ValueError: 17" if not isolated else "")


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (Report("visible", failure=Failure("ValueError", "SEEN: 17", line=1)), "an error: "),
        (Report("visible", failure=Failure("AssertionError", "SEEN: 17", line=1)), "AssertionError: "),
        (Report("visible", failure=Failure("NotRun", "time was over", ours=True)), "NotRun: time was over"),
        (Report("visible", (case(False, error="ValueError", message="SEEN: 17"), case(True))), ""),
    ],
)
def test_one_that_ran_apart_does_not_retell_what_was_read_in_the_kernel(report: Report, message: str) -> None:
    """The student's code reads a hidden test there, and raises or returns its text in a test that runs apart."""
    sources = {"hides": HIDDEN, "visible": "f(1)\ncheck.score(2)" if report.cases else ASSERTS}
    cells = [
        nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": name}}, execution_count=1)
        for name, source in sources.items()
    ]
    execution = Execution(
        nbformat.v4.new_notebook(cells=cells),
        complete=True,
        isolated=frozenset({"visible"}),
        reports={"visible": report},
    )
    _, visible = score_notebook("lab", execution, [row(source, grade_id=name) for name, source in sources.items()])
    assert visible.message.startswith(message)
    assert "SEEN" not in str(replace(visible, whole=""))
    assert ("SEEN" in visible.whole) == ("SEEN" in str(report.failure)), "who grades reads it"


IN_THE_KERNEL = """
with check.case("small scores", hint="over axis=1", more="keepdims"):
    check.close(f(1), 17)
for n in (1, 2):
    with check.case(f"size {n}"):
        check.close(f(n), 17)
### BEGIN HIDDEN TESTS
with check.hidden_case("large scores", hint="subtract the maximum"):
    check.close(f(1000), 18)
### END HIDDEN TESTS
check.score(2)"""


def test_of_cases_that_ran_in_the_kernel_beside_hidden_lines_only_what_the_test_calls_them_is_told() -> None:
    """The report is the student's process's, which can read the test: any of its texts may be what it has read."""
    cases = [
        case(title="small scores", hint="over axis=1", more="keepdims"),
        case(False, title="large scores", hint="SEEN", hidden=False, message="SEEN", error="SEEN", more="SEEN"),
        case(title="SEEN", hint="SEEN", message="SEEN", more="SEEN"),
        case(title="17", message="SEEN"),
        *[case(bit == "1", title="small scores", message="SEEN", weight=1 + int(bit)) for bit in "0110"],
    ]
    found = scored([bundle(report(*cases))], IN_THE_KERNEL)
    assert [(c["title"], c["passed"], c["hint"], c["more"]) for c in found.cases] == [
        ("small scores", False, "over axis=1", "keepdims"),
        ("large scores", False, "subtract the maximum", ""),
    ]
    assert {c["weight"] for c in found.cases} == {1.0}
    assert "SEEN" not in str(found)


@pytest.mark.parametrize("mark", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_the_lines_above_a_hidden_one_are_counted_as_python_counts_them(mark: str) -> None:
    source = (
        f"note = 'one{mark}two{mark}three'\n### BEGIN HIDDEN TESTS\nassert f(5) == 25, 'SEEN'\n### END HIDDEN TESTS"
    )
    score, _ = apart([], source, failure=Failure("AssertionError", "SEEN", line=3))
    assert "SEEN" not in score.message


def test_what_the_grader_itself_says_and_a_test_without_hidden_lines_is_shown() -> None:
    assert (
        apart([], HIDDEN, failure=Failure("NotRun", "time was over", ours=True))[0].message == "NotRun: time was over"
    )
    assert scored([error("CellTimeoutError", "stopped")], ASSERTS).message == "CellTimeoutError: stopped"
    left = scored([error("CellTimeoutError", "17")], HIDDEN).message  # a class of this name may be the student's
    assert left == "CellTimeoutError: what was noted about the notebook says why"
    assert apart([], ASSERTS, failure=Failure("AssertionError", "1 != 2"))[0].message == "AssertionError: 1 != 2"


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
    (score,) = score_notebook("lab", Execution(nbformat.v4.new_notebook(), complete=True), [row()])
    assert (score.points, score.message) == (0.0, "the cell is missing")


def test_a_written_answer_waits_for_a_person_and_a_blank_one_earns_nothing() -> None:
    from autograder.course import checksum

    written = row("Because.", cell_type="markdown", solution=True, locked=False)
    execution = executed([], written)
    (cell,) = execution.notebook.cells
    cell.metadata.nbgrader.checksum = "another"
    assert score_notebook("lab", execution, [written])[0].points is None
    cell.metadata.nbgrader.checksum = checksum(cell)
    assert score_notebook("lab", execution, [written])[0].points == 0.0


def test_a_task_cell_waits_for_a_person() -> None:
    task = row("Draw.", cell_type="markdown", grade=False, task=True)
    assert score_notebook("lab", executed([], task), [task]) == [CellScore("lab", "a-check", None, 2.0)]


def test_a_solution_cell_has_no_score() -> None:
    solution = row("x = 1", grade=False, solution=True)
    assert score_notebook("lab", executed([], solution), [solution]) == []


@pytest.mark.parametrize(
    ("source", "points"),
    [
        ("assert f(1) == 1", 0.0),
        ("for x in (1, 2):\n    assert f(x) == x", 0.0),
        ("score = f(1)", 0.0),
        ("assert f(1) == 1\nf(2)", 0.5),
        ("%run test.py", 0.5),
        ("f(1)\n!ls", 0.5),
        ("this is no Python", 0.5),
    ],
)
def test_a_value_counts_only_where_the_test_can_have_one(source: str, points: float) -> None:
    assert scored([result("0.5")], source).points == points
