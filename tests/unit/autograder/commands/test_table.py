"""The table after grading: readable at any width, and it says where to look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from autograder.commands.table import messages, show_table, summary
from autograder.grading.outcome import Outcome, outcome_of
from autograder.model import CellScore, GradebookEntry, Result, Status


def _case(title: str, error: str = "Mismatch") -> dict[str, object]:
    return {"title": title, "passed": False, "error": error, "message": "", "hint": "", "hidden": False, "weight": 1.0}


def _cell(grade_id: str, points: float | None, *cases: dict[str, object], message: str = "") -> CellScore:
    return CellScore("lab", grade_id, points, 2, cases=cases, message=message)


def _outcome(
    student: str = "ann",
    status: Status = Status.GRADED,
    *cells: CellScore,
    messages: Sequence[str] = (),
    unchanged: bool = False,
    to_grade: int = 0,
    was: float | None = None,
) -> Outcome:
    result = Result(student, "lab", status, 3, 8, messages=tuple(messages), cells=cells)
    return Outcome(result, unchanged=unchanged, to_grade=to_grade, was=was)


def _stored(**more: Any) -> GradebookEntry:
    usual: dict[str, Any] = {
        "student": "ann", "last_name": "", "first_name": "", "email": "", "lab": "lab", "due": "", "handed_in": "",
        "raw_score": 3.0, "penalty": 0.0, "score": 3.0, "max_score": 8.0, "to_grade": 0, "comments": {},
    }  # fmt: skip
    return GradebookEntry(**(usual | more))


def _shown(capsys: pytest.CaptureFixture[str], *outcomes: Outcome) -> list[str]:
    show_table(outcomes)
    return capsys.readouterr().out.splitlines()


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_students_stand_in_order_and_columns_under_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    late = _outcome("zoe", Status.PARTLY_GRADED, messages=["cell 'a' was stopped after 4 s"])
    assert _shown(capsys, late, _outcome("ann")) == [
        "student  points  status         where to look",
        "ann         3/8  graded",
        "zoe         3/8  partly graded  cell 'a' was stopped after 4 s",
    ]


@pytest.mark.parametrize(
    ("cell", "given", "words"),
    [
        (
            _cell("a-check", 0, message="an error in a hidden test"),
            1,
            "a-check 1/2 by hand, not 0: an error in a hidden test",
        ),
        (_cell("a-check", 0, _case("x", "NotImplementedError")), 0.5, "a-check 0.5/2 by hand, not 0: x"),
        (_cell("a-check", 0, message="NotRun: too late"), 1, "a-check 1/2 by hand, not 0: NotRun: too late"),
        (_cell("a-check", 2), 1, "a-check 1/2 by hand, not 2"),
        (_cell("a-check", 0, _case("x")), 2, ""),
        (_cell("why", 0), 0.5, "why 0.5/2 by hand, not 0: no answer"),
        (_cell("why", None), 0.5, ""),
    ],
)
def test_points_by_hand_count_in_the_table_as_in_the_sum(
    cell: CellScore, given: float, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    held = _stored(grades={cell.key: given})
    outcome = outcome_of(_outcome("ann", Status.GRADED, cell).result, held)
    assert (outcome.by_hand, outcome.counts(cell)) == ({cell.key: given}, given)
    assert _shown(capsys, outcome)[1] == f"ann         3/8  graded  {words}".rstrip()


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([_cell("a-check", 2), _cell("why", None)], ""),
        ([_cell("a-check", 1, _case("rows sum to one"))], "a-check 1/2: rows sum to one"),
        ([_cell("a-check", 0, message="AssertionError: no\nmore")], "a-check 0/2: AssertionError: no"),
        ([replace(_cell("b", 0, message="an error"), whole="ValueError: 17")], "b 0/2: ValueError: 17"),
        ([_cell("why", 0)], "why 0/2: no answer"),
        ([_cell("a-check", 0, _case("x", "NotImplementedError")), _cell("b", 2)], "a not implemented"),
        ([_cell("a-check", 0, message="NotImplementedError"), _cell("b", 2)], "a not implemented"),
        ([_cell(name, 0, _case("x", "NotImplementedError")) for name in "abcd"], "4 of 4 tasks not implemented"),
        ([_cell("a", 0, message="NotRun: too late"), _cell("b", 2)], "a not run"),
        ([_cell("a", 0, _case("x"), _case("y", "ProcessDied"))], "a 0/2: x"),  # a KeyboardInterrupt of the student's
        (
            [replace(_cell("a-check", 0, _case("x")), notebook="p1"), replace(_cell("a-check", 2), notebook="p2")],
            "p1/a-check 0/2: x",
        ),
        ([_cell(name, 0, _case("x")) for name in "abcde"], "a 0/2: x; b 0/2: x; c 0/2: x; 2 more lost points"),
    ],
)
def test_where_points_were_lost_is_said_shortly(
    cells: list[CellScore], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _shown(capsys, _outcome("ann", Status.GRADED, *cells))[1] == f"ann         3/8  graded  {words}".rstrip()


@pytest.mark.parametrize(
    "cell",
    [
        _cell("a", 0, message="CellTimeoutError: stopped"),
        _cell("a", 0, _case("x", "TimeLimit"), _case("y", "TimeLimit")),
        _cell("a", 0, _case("x", "ProcessDied")),
    ],
)
def test_a_cell_that_a_message_names_is_named_once(cell: CellScore, capsys: pytest.CaptureFixture[str]) -> None:
    stopped = _outcome("ann", Status.PARTLY_GRADED, cell, messages=["cell 'a' was stopped after 4 s"])
    assert _shown(capsys, stopped)[1] == "ann         3/8  partly graded  cell 'a' was stopped after 4 s"


def test_a_penalty_for_being_late_is_shown_and_no_score_is_no_zero(capsys: pytest.CaptureFixture[str]) -> None:
    late = _outcome("ann", Status.GRADED)
    late = replace(late, result=replace(late.result, penalty=1.0))
    failed = replace(_outcome("bob", Status.FAILED, messages=["disk full"]), stored=False)
    assert _shown(capsys, late, failed)[1:] == [
        "ann         3/8  graded  1 point taken off for being late",
        "bob           -  failed  disk full",
    ]


def test_one_task_is_one_task(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = _outcome("ann", Status.GRADED, _cell("a", 0, _case("x", "NotImplementedError")))
    assert _shown(capsys, outcome)[1].endswith("1 of 1 task not implemented")


def test_an_unreadable_file_is_explained_and_its_zeros_are_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = _outcome("ann", Status.UNREADABLE, _cell("a", 0, message="x"), messages=["lab.ipynb: not JSON"])
    assert _shown(capsys, outcome)[1].endswith("unreadable  lab.ipynb: not JSON")


@pytest.mark.parametrize("width", [72, 80, 120])
def test_on_a_terminal_no_line_is_wider_and_long_ones_go_on_below(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    long = _outcome("ann", messages=["a word or two " * 30])
    lines = _shown(capsys, long, _outcome("日本" * 20), _outcome("x" * 100))
    assert len(lines) == 1 + 3 + 2
    assert max(cell_len(line) for line in lines) <= width
    assert lines[3].endswith("…")
    assert "…" in lines[-1]


def test_why_somebody_was_not_graded_is_never_cut_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    where = "/a/long/path" * 20
    failed = _outcome("ann", Status.FAILED, messages=[f"{where}: disk full; free some space and run it again"])
    assert "free some space and run it again" in " ".join(" ".join(_shown(capsys, failed)).split())


def test_elsewhere_lines_are_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert _shown(capsys, _outcome("ann", messages=["a word or two " * 30]))[1].endswith("a word or two")


def test_what_a_student_wrote_is_neither_markup_nor_control(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = _outcome("[red]ann\x1b[2J", messages=["[/] \x07 bell"])
    assert _shown(capsys, outcome)[1] == "[red]ann [2J     3/8  graded  [/]   bell"


def test_the_summary_counts_and_says_what_is_left_for_a_person() -> None:
    outcomes = [_outcome("a", to_grade=1), _outcome("b", Status.MISSING), _outcome("c", unchanged=True, to_grade=2)]
    assert list(summary(outcomes)) == [
        "3 students: 2 graded, 1 missing; 1 unchanged, not run again",
        "3 written answers to grade by hand: jupyter lab, menu Nbgrader, Formgrader",
    ]
    assert list(summary(outcomes[1:2])) == ["1 student: 1 missing"]


def test_whose_points_changed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    changed = _outcome("ann", Status.GRADED, messages=["careful"], was=12.5)
    assert _shown(capsys, changed)[1] == "ann         3/8  graded  was 12.5; careful"
    assert list(summary([changed, _outcome("bob", was=0.0), _outcome("cy")]))[1] == "2 scores changed"


def test_messages_end_with_what_is_to_be_graded_by_hand() -> None:
    assert messages(_outcome(to_grade=1, messages=["careful"])) == ["careful", "1 written answer to grade by hand"]
