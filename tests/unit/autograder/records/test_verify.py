"""Whatever is done to the lines of a log is found, and whatever was given by hand is not taken for an edit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.course import Lateness, StoredCell
from autograder.model import CellScore, CellSpec, Result, Status
from autograder.records.chain import check_chain
from autograder.records.fingerprint import row_hashes
from autograder.records.log import Basis, Log
from autograder.records.verify import verify_lab

STUDENTS = ("ada", "bob", "cy", "dee", "eve")


def result(student: str, **more: Any) -> Result:
    usual: dict[str, Any] = {
        "status": Status.GRADED, "score": 3.0, "max_score": 5.0, "penalty": 0.0,
        "cells": (CellScore("lab", "a-check", 2.0, 2.0), CellScore("lab", "why", None, 3.0)),
    }  # fmt: skip
    return Result(student, "lab", **(usual | more))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    log = Log(tmp_path / "lab.jsonl")
    for student in STUDENTS:
        log.append(result(student))
    return log


def damaged(log: Log, change: Callable[[list[bytes]], Any]) -> list[str]:
    """Return what is found after the lines were changed in place."""
    lines = log.path.read_bytes().splitlines(keepends=True)
    change(lines)
    log.path.write_bytes(b"".join(lines))
    return check_chain(log.entries())[0]


def test_an_honest_log_has_no_problems(log: Log) -> None:
    assert check_chain(log.entries(), log.head) == ([], [])
    assert check_chain(log.entries(), log.entries()[1].hash[:16])[0] == [], "it grew since the head was noted"


def test_an_edited_line_is_named(log: Log) -> None:
    def edit(lines: list[bytes]) -> None:
        lines[2] = lines[2].replace(b'"points": 2.0', b'"points": 9.0')

    assert damaged(log, edit) == ["line 3 (cy): was edited: it is not what its hash says"]


def test_an_edited_line_with_a_new_hash_breaks_the_chain(log: Log, tmp_path: Path) -> None:
    other = Log(tmp_path / "other.jsonl")
    other.append(result("ada"))
    other.append(result("bob", score=5.0))

    def forge(lines: list[bytes]) -> None:
        lines[1] = other.path.read_bytes().splitlines(keepends=True)[1]

    assert damaged(log, forge) == ["line 3 (cy): the line that it was written after is not there: lines were removed"]


def test_a_removed_line_is_noticed(log: Log) -> None:
    found = damaged(log, lambda lines: lines.pop(1))
    assert found == ["line 2 (cy): the line that it was written after is not there: lines were removed"]


def test_the_first_line_removed_is_noticed(log: Log) -> None:
    assert damaged(log, lambda lines: lines.pop(0)) == [
        "line 1 (bob): what stood above it is not there, or was changed"
    ]


def test_lines_that_changed_places_are_noticed(log: Log) -> None:
    found = damaged(log, lambda lines: lines.insert(1, lines.pop(3)))
    assert "line 2 (dee): it was written after line 4: lines were moved or inserted" in found


def test_a_line_written_twice_is_noticed(log: Log) -> None:
    found = damaged(log, lambda lines: lines.append(lines[0]))
    assert found == ["line 6 (ada): the line that it was written after is not there: lines were removed"]


def test_an_inserted_line_without_a_hash_is_noticed(log: Log) -> None:
    line = json.dumps(result("mallory", score=5.0).to_dict()).encode() + b"\n"
    found = damaged(log, lambda lines: lines.insert(2, line))
    assert found == ["line 3 (mallory): was inserted: it has no hash, and those before it have"]
    assert damaged(log, lambda lines: lines.append(line))[-1].startswith("line 7 (mallory): was inserted")


def test_lines_cut_off_at_the_end_are_found_with_the_head_only(log: Log) -> None:
    head = log.head
    assert damaged(log, lambda lines: lines.pop()) == []
    said = f"no line has the hash {head}: since it was noted, lines were cut off, or all rewritten"
    assert check_chain(log.entries(), head)[0] == [said]


def test_a_log_written_anew_is_found_with_the_head(log: Log) -> None:
    head = log.head
    log.path.unlink()
    for student in STUDENTS:
        Log(log.path).append(result(student, score=5.0))
    assert check_chain(log.entries())[0] == []
    assert len(check_chain(log.entries(), head)[0]) == 1


def test_half_a_line_is_a_note_and_no_problem(log: Log) -> None:
    with log.path.open("ab") as file:
        file.write(b'{"student": "fay", "sco')
    problems, notes = check_chain(log.entries(), log.head)
    assert problems == []
    assert notes == ["line 6: cannot be read and counts as not there: a run that was killed leaves such a line"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(st.data())
def test_no_byte_can_be_changed_in_secret(log: Log, data: st.DataObject) -> None:
    log.path.unlink()
    for student in STUDENTS:
        Log(log.path).append(result(student))
    content, head = log.path.read_bytes(), log.head
    results = log.latest()
    place = data.draw(st.integers(0, len(content) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != content[place]))
    log.path.write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
    unseen = not check_chain(log.entries(), head)[0]
    assert not unseen or log.latest() == results, (content[place : place + 1], bytes([byte]))


# -------------------------------------------------------------------------------------------------------- the gradebook
ROW = CellSpec("a-check", "code", "assert f(1) == 2", "", True, True, False, False, 2.0)
THEN = Basis(row_hashes({"lab": [ROW]}), "2026-01-02 10:00:00", "2026-01-02 12:00:00", 3600.0)


def course_with(
    log: Log,
    cells: dict[str, list[StoredCell]],
    penalty: float = 0.0,
    commented: dict[str, list[str]] | None = None,
    rows: dict[str, list[CellSpec]] | None = None,
    late: dict[str, Lateness] | None = None,
    roster: tuple[str, ...] | None = None,
    sums: dict[str, float] | None = None,
) -> Any:
    usual = Lateness(THEN.handed_in, THEN.due, THEN.extension_s, penalty)
    return SimpleNamespace(
        state=log.path.parent,
        alterations=list,
        excluded={"dropped"},
        scores=lambda lab: [
            SimpleNamespace(student=student, raw_score=score) for student, score in (sums or {}).items()
        ],
        cells=lambda lab: cells,
        commented=lambda lab: commented or {},
        penalties=lambda lab: {},
        lateness=lambda lab: dict.fromkeys(cells, usual) | (late or {}),
        everybody=lambda: list(cells if roster is None else roster),
        notebooks=lambda lab: {"lab": [ROW]} if rows is None else rows,
        autograded=lambda student, lab: log.path.parent / "autograded" / student / lab,
    )


def in_book(points: float | None = 2.0, most: float = 2.0, **why: Any) -> list[StoredCell]:
    words: dict[str, Any] = {"auto_score": None, "manual_score": None, "extra_credit": None, "max_score": 3.0, **why}
    return [StoredCell("lab", "a-check", points, None, None, most), StoredCell("lab", "why", **words)]


def book(**changed: list[StoredCell]) -> dict[str, list[StoredCell]]:
    return {student: in_book() for student in STUDENTS} | changed


def found(log: Log, cells: dict[str, list[StoredCell]], **more: Any) -> list[str]:
    return [str(difference) for difference in verify_lab(course_with(log, cells, **more), "lab").differences]


def test_what_agrees_has_no_differences(log: Log) -> None:
    verified = verify_lab(course_with(log, book()), "lab", log.head)
    assert verified.agrees
    assert (verified.lines, verified.head, verified.by_hand) == (5, log.head, [])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ada": in_book(1.0)}, "ada: a-check: the log says 2, but there is 1"),
        ({"ada": in_book(None)}, "ada: a-check: the log says 2, but there is no points yet"),
        ({"ada": in_book(auto_score=3.0)}, "ada: why: the log says no points yet, but there is 3"),
        ({"ada": in_book(most=4.0)}, "ada: a-check: the log says 2 at most, but there is 4 at most"),
        ({"ada": in_book()[1:]}, "ada: a-check: the log says 2, but there is nothing"),
        (
            {"ada": [*in_book(), StoredCell("lab", "bonus", 7.0, None, None, 7.0)]},
            "ada: bonus: the log says nothing, but there is 7",
        ),
        ({"mallory": in_book()}, "mallory: the submission: the log says nothing, but there is one in the gradebook"),
    ],
)
def test_each_difference_is_one_line(log: Log, changed: dict[str, list[StoredCell]], said: str) -> None:
    assert found(log, book(**changed)) == [said]


def test_a_submission_that_was_deleted_is_missed(log: Log) -> None:
    cells = book()
    del cells["bob"]
    assert found(log, cells) == ["bob: the submission: the log says it was graded, but there is nothing"]


def test_a_changed_penalty_is_found_and_one_of_an_older_log_is_not_known(log: Log) -> None:
    said = "penalty for being late: the log says 0, but there is 1.5"
    assert found(log, book(), penalty=1.5) == [f"{student}: {said}" for student in STUDENTS]
    for student in STUDENTS:
        log.append(result(student, penalty=None))
    assert found(log, book(), penalty=1.5) == []


def test_what_was_given_by_hand_is_listed_and_is_no_difference(log: Log) -> None:
    by_hand = in_book(manual_score=2.5, extra_credit=1.0)
    verified = verify_lab(course_with(log, book(ada=by_hand), commented={"ada": ["why"]}), "lab")
    assert verified.agrees
    assert verified.by_hand == [
        "ada: why: 2.5 points by hand",
        "ada: why: 1 point of extra credit by hand",
        "ada: why: a comment by hand",
    ]


def test_the_last_result_that_was_stored_counts(log: Log) -> None:
    log.append(result("ada", cells=(CellScore("lab", "a-check", 1.0, 2.0), CellScore("lab", "why", None, 3.0))))
    log.append(result("ada", status=Status.FAILED, cells=()))
    log.append(result("bob", status=Status.MISSING, cells=()))
    log.append(result("zoe", status=Status.MISSING, cells=()))
    assert found(log, book(ada=in_book(1.0))) == []


def test_an_edited_result_of_the_log_does_not_become_the_grade(log: Log) -> None:
    log.path.write_bytes(log.path.read_bytes().replace(b'"points": 2.0', b'"points": 1.0', 1))
    verified = verify_lab(course_with(log, book(ada=in_book(1.0))), "lab")
    assert len(verified.problems) == 1
    assert [str(d) for d in verified.differences] == [
        "ada: the submission: the log says nothing, but there is one in the gradebook"
    ]


def test_an_executed_notebook_that_was_changed_or_lost_is_found(log: Log, tmp_path: Path) -> None:
    folder = tmp_path / "autograded" / "ada" / "lab"
    folder.mkdir(parents=True)
    (folder / "lab.ipynb").write_text("{}")
    log.append(result("ada", notebooks={"lab": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}))
    assert found(log, book()) == []
    (folder / "lab.ipynb").write_text("{ }")
    (line,) = found(log, book())
    assert line.startswith("ada: autograded/lab.ipynb: the log says hash 44136fa355b3, but there is ")
    (folder / "lab.ipynb").unlink()
    assert found(log, book())[0].endswith("but there is nothing")


def test_a_grading_that_was_cut_off_is_named(log: Log, tmp_path: Path) -> None:
    (tmp_path / "lab.staging" / "bob").mkdir(parents=True)
    said = "bob: the last grading: the log says nothing, but there is a part of it: the run was killed"
    assert found(log, book()) == [said]


# ------------------------------------------------------------------------------------------- what was graded from what
@pytest.fixture
def based(tmp_path: Path) -> Log:
    log = Log(tmp_path / "based" / "lab.jsonl")
    log.path.parent.mkdir()
    for student in STUDENTS:
        log.append(result(student), THEN)
    return log


def test_a_result_that_agrees_with_what_it_was_graded_from_has_no_difference(based: Log) -> None:
    verified = verify_lab(course_with(based, book()), "lab")
    assert (verified.agrees, verified.notes) == (True, [])
    assert [entry.basis for entry in based.entries()] == [THEN] * 5


def test_a_result_of_weaker_tests_than_todays_is_found(based: Log) -> None:
    weaker = Basis(row_hashes({"lab": [replace(ROW, source="assert f(1)")]}), THEN.handed_in, THEN.due, 3600.0)
    based.append(result("bob"), weaker)
    (line,) = found(based, book())
    assert re.fullmatch(
        "bob: a-check: the log says it was graded with the cell [0-9a-f]{12},"
        " but there is another one today, [0-9a-f]{12}",
        line,
    )


@pytest.mark.parametrize(
    "change", [{"cell_type": "markdown"}, {"locked": False}, {"checksum": "x"}, {"solution": True}]
)
def test_what_is_not_the_text_of_a_cell_counts_too(based: Log, change: dict[str, Any]) -> None:
    (line,) = found(based, book(), rows={"lab": [replace(ROW, **change)]})
    assert line.startswith("ada, bob, cy and 2 others: a-check: the log says it was graded with the cell ")


def test_a_test_that_was_added_or_deleted_is_found(based: Log) -> None:
    more = replace(ROW, grade_id="b-check")
    (added,) = found(based, book(), rows={"lab": [ROW, more]})
    assert added.startswith("ada, bob, cy and 2 others: b-check: the log says there was no such cell, but there is ")
    assert found(based, book(), rows={"lab": [more]})[0].endswith("but there is no such cell today")


@pytest.mark.parametrize(
    ("late", "said"),
    [
        (
            {"handed_in": "2026-01-01 00:00:00"},
            "bob: handed in: the log says 2026-01-02 10:00:00, but there is 2026-01-01 00:00:00",
        ),
        ({"handed_in": ""}, "bob: handed in: the log says 2026-01-02 10:00:00, but there is nothing"),
        ({"due": ""}, "bob: due: the log says 2026-01-02 12:00:00, but there is no due date"),
        ({"extension_s": 7200.0}, "bob: extension: the log says 1 hours, but there is 2 hours"),
    ],
)
def test_what_decides_a_penalty_is_compared(based: Log, late: dict[str, Any], said: str) -> None:
    usual: dict[str, Any] = {"handed_in": THEN.handed_in, "due": THEN.due, "extension_s": 3600.0}
    assert found(based, book(), late={"bob": Lateness(**(usual | late))}) == [said]


def test_a_due_date_that_was_moved_is_one_line_for_all(based: Log) -> None:
    moved = {student: Lateness(THEN.handed_in, "2027-01-01 00:00:00", 3600.0) for student in STUDENTS}
    said = "due: the log says 2026-01-02 12:00:00, but there is 2027-01-01 00:00:00"
    assert found(based, book(), late=moved) == [f"ada, bob, cy and 2 others: {said}"]


def test_a_log_that_does_not_say_from_what_it_was_graded_is_noted(log: Log) -> None:
    verified = verify_lab(course_with(log, book()), "lab")
    assert verified.agrees
    assert verified.notes == [
        "5 results of an older version do not say with which tests they were graded, nor what was due when;"
        " grade --force writes them again"
    ]


def test_a_basis_that_cannot_be_read_is_none(based: Log) -> None:
    whole: dict[str, Any] = {"tests": {}, "extension_s": 0}
    contents: list[Any] = [None, 3, {**whole, "tests": 1}, {**whole, "other": 1}, {"tests": {}}]
    for content in contents:
        assert Basis.read(content) is None


def test_a_student_who_is_not_in_the_gradebook_any_more_is_found(based: Log) -> None:
    said = "ada: the student: the log says there was one, but there is nobody of this id any more"
    assert found(based, book(), roster=("bob", "cy", "dee", "eve", "mallory")) == [said]


def test_two_grades_of_one_cell_are_found(based: Log) -> None:
    said = "ada: lab/a-check: the log says one grade, but there is 2 grades, which all count"
    assert found(based, book(ada=[*in_book(), *in_book()[:1]])) == [said]


def test_a_sum_of_the_database_s_that_is_not_that_of_its_rows_is_found(log: Log) -> None:
    by_hand = in_book(manual_score=2.5, extra_credit=0.5)
    nothing = [StoredCell("lab", "why", None, None, 1.0, 3.0)]
    honest = {"ada": 5.0, "bob": 2.0, "eve": 0.0}
    cells = book(ada=by_hand, eve=nothing)
    assert verify_lab(course_with(log, cells, sums=honest), "lab").problems == []
    assert verify_lab(course_with(log, cells, sums=honest | {"bob": 6.0}), "lab").problems == [
        "the gradebook gives bob 6 in all, but its rows add up to 2"
    ]
