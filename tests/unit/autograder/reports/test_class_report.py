"""The numbers of the class report are right, it runs nothing, and it says so where there is nothing to say."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from autograder.model import CellScore, CellSpec, GradebookEntry, Result, Status
from autograder.reports.class_report import MARK, class_page, class_statistics
from tests.unit.autograder.reports.test_feedback import HOSTILE, Page

ROWS = {
    "lab": [
        CellSpec("f-check", "code", "", "", True, True, False, False, 2.0),
        CellSpec("words", "markdown", "", "", False, True, True, False, 2.0),
        CellSpec("setup", "code", "", "", True, False, False, False, 0.0),
    ]
}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "footer", "section", "h1", "h2", "p", "div", "dl", "dt",
    "dd", "small", "table", "tbody", "tr", "th", "td", "ul", "li", "br", "span", "svg", "rect", "line", "text",
}  # fmt: skip


def case(title: str, passed: bool = False, error: str = "Mismatch", hidden: bool = False) -> dict[str, Any]:
    return {
        "title": title, "passed": passed, "error": error, "hidden": hidden, "message": "", "hint": "", "weight": 1.0,
    }  # fmt: skip


def result(student: str, points: float, *cases: dict[str, Any], **more: Any) -> Result:
    cells = (CellScore("lab", "f-check", points, 2.0, cases), CellScore("lab", "words", None, 2.0))
    usual: dict[str, Any] = {"status": Status.GRADED, "seconds": 1.0, "cells": cells, "isolated": True}
    return Result(student, "lab", **(usual | more))


def stored(student: str, points: float, words: float | None = None) -> GradebookEntry:
    grades = {"lab/f-check": points, "lab/words": words or 0.0}
    pending = frozenset({"lab/words"} if words is None else set())
    score = sum(grades.values())
    return GradebookEntry(student, "", "", "", "lab", "", "", score, 0.0, score, 4.0, len(pending), {}, grades, pending)


RESULTS = [
    result("ada", 2.0, case("one", True), case("two", True), seconds=3.0),
    result("bob", 1.0, case("one", True), case("two", hidden=True), seconds=9.5),
    result("cy", 0.0, case("one"), case("two", hidden=True), status=Status.TAMPERED, messages=("a cell was changed",)),
    result("dee", 0.0, case("one", error="NotImplementedError"), case("two", error="NotImplementedError")),
    Result("eve", "lab", Status.FAILED, messages=("the disk is full",)),
]
STORED = [stored("ada", 2.0, 2.0), stored("bob", 1.0, 0.0), stored("cy", 0.0), stored("dee", 0.0)]


@pytest.fixture
def numbers() -> dict[str, Any]:
    return class_statistics(
        "lab", ROWS, {r.student: r for r in RESULTS}, STORED, ["ada", "fay"],
        titles={"": "01. Lab", "lab/words": "Why"}, alike=[["cy", "bob"]],
    )  # fmt: skip


def test_students_are_counted_by_status(numbers: dict[str, Any]) -> None:
    assert numbers["students"] == 6
    assert numbers["statuses"] == {"graded": 3, "tampered": 1, "missing": 1, "failed": 1}
    assert numbers["flagged"] == [
        {"student": "cy", "status": "tampered", "messages": ["a cell was changed"]},
        {"student": "eve", "status": "failed", "messages": ["the disk is full"]},
        {"student": "fay", "status": "missing", "messages": []},
    ]
    assert numbers["alike"] == [["bob", "cy"]]


def test_scores_are_the_gradebook_s(numbers: dict[str, Any]) -> None:
    scores = numbers["scores"]
    assert (scores["count"], scores["mean"], scores["median"]) == (4, 1.25, 0.5)
    assert (scores["lowest"], scores["highest"]) == (0.0, 4.0)
    assert [b["students"] for b in scores["bins"]] == [2, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert (scores["bins"][2]["from"], scores["bins"][2]["to"]) == (0.8, 1.2)
    assert numbers["to_grade"] == {"answers": 2, "students": 2}


def test_a_task_counts_who_did_what(numbers: dict[str, Any]) -> None:
    check, words = numbers["tasks"]
    assert (check["title"], words["title"]) == ("f", "Why")
    kinds = ("full_marks", "some_points", "no_points", "blank", "to_grade")
    assert [check[kind] for kind in kinds] == [1, 1, 1, 1, 0]
    assert [words[kind] for kind in kinds] == [1, 0, 1, 0, 2]
    assert (check["graded"], check["mean_share"]) == (4, 0.375)
    assert (words["graded"], words["mean_share"], words["by_hand"]) == (2, 0.5, True)


def test_the_cases_that_fail_most_are_of_those_who_tried(numbers: dict[str, Any]) -> None:
    assert numbers["tasks"][0]["most_failed"] == [
        {"case": "two", "hidden": True, "students": 2},
        {"case": "one", "hidden": False, "students": 1},
    ]


def test_the_slowest_are_named(numbers: dict[str, Any]) -> None:
    assert numbers["seconds"]["slowest"][0] == {"student": "bob", "seconds": 9.5}
    assert (numbers["seconds"]["total"], numbers["seconds"]["median"]) == (14.5, 2.0)


def test_the_page_says_what_the_numbers_say_and_runs_nothing(numbers: dict[str, Any]) -> None:
    json.dumps(numbers)
    page = class_page(numbers)
    found = Page(page.replace("<br>", ""))
    assert {tag for tag, _ in found.tags} <= TAGS
    assert MARK in page[:1000]
    policy = next(attributes for _, attributes in found.tags if attributes.get("http-equiv"))
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    text = " ".join(" ".join(found.words).split())
    for said in (
        "01. Lab",
        "Mean 1.25 of 4",
        "full marks 1 · some points 1 · no points 1 · not begun 1",
        "✗ 2 of 4: two hidden",
        "2 to grade, 2 points",
        "cy tampered a cell was changed",
        "fay missing nothing handed in",
        "bob, cy alike",
        "bob 9.5",
        "2 written answers count as 0 until a person has graded them.",
    ):
        assert said in text, said


def test_bars_are_as_long_as_their_share(numbers: dict[str, Any]) -> None:
    widths = re.findall(r'<rect class="(\w+)" x="([\d.]+)" width="([\d.]+)" height="20"', class_page(numbers))
    assert widths[:4] == [
        ("full_marks", "0", "250.0"), ("some_points", "250.0", "250.0"), ("no_points", "500.0", "250.0"),
        ("blank", "750.0", "250.0"),
    ]  # fmt: skip


def test_whatever_students_are_called_nothing_of_it_runs() -> None:
    hostile = result(HOSTILE, 0.0, case(HOSTILE), status=Status.TAMPERED, messages=(HOSTILE,))
    numbers = class_statistics(HOSTILE, ROWS, {HOSTILE: hostile}, [], [], titles={"": HOSTILE, "lab/words": HOSTILE})
    found = Page(class_page(numbers).replace("<br>", ""))
    assert {tag for tag, _ in found.tags} <= TAGS
    assert not [a for _, attributes in found.tags for a in attributes if a.startswith("on") or a in {"href", "src"}]
    assert "{{1234*4321}}" in found.text


@pytest.mark.parametrize("rows", [{}, ROWS])
def test_an_empty_class_has_a_page_too(rows: dict[str, list[CellSpec]]) -> None:
    numbers = class_statistics("lab", rows, {}, [], [])
    text = Page(class_page(numbers).replace("<br>", "")).text
    for said in ("Nobody has a score yet.", "Nothing has been graded yet.", "Nothing was run.", "Nothing: every"):
        assert said in text


@pytest.mark.parametrize("count", [1, 2, 3, 7, 30, 999])
def test_any_number_of_students_fits_the_plot(count: int) -> None:
    rows = [stored(f"s{n}", 2.0, 2.0) for n in range(count)]
    page = class_page(class_statistics("lab", ROWS, {}, rows, []))
    heights = [float(h) for h in re.findall(r'<rect class="full_marks"[^>]* height="([\d.]+)"', page)]
    assert 95 <= max(heights) <= 190
    lines = [int(n) for n in re.findall(r'text-anchor="end">(\d+)<', page)]
    assert lines[0] == 0
    assert lines[-1] >= count
    assert len(lines) <= 6


def test_a_score_above_the_maximum_goes_into_the_last_bin() -> None:
    (row,) = [stored("ada", 2.0, 9.0)]
    assert class_statistics("lab", ROWS, {}, [row], [])["scores"]["bins"][-1]["students"] == 1


def test_a_run_without_a_sandbox_is_said() -> None:
    found = class_statistics("lab", ROWS, {"ada": result("ada", 2.0, isolated=False)}, [], [])
    assert found["not_isolated"] == ["ada"]
    assert "1 of these submissions were run without a sandbox" in class_page(found)
