"""The class report of a class that was really graded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system.courses import ADD, DOUBLE, FULL, TINY, answered, autograder, copied, edited, grade, hand_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = copied(tiny_template, tmp_path_factory.mktemp("class"))
    hand_in(course, "ada", answered(course, **FULL))
    hand_in(course, "copy", edited(answered(course, **FULL), lambda cells: cells.pop(0)))
    hand_in(course, "bob", answered(course, add=ADD, double=DOUBLE.replace("2 *", "3 *")))
    hand_in(course, "blank", answered(course))
    hand_in(course, "untouched", answered(course))
    hand_in(course, "cy", b"{")
    hand_in(course, "missing", b"x", "notes.txt")
    grade(course)
    return course


def test_the_numbers_are_those_of_the_class(course: Path) -> None:
    result = autograder("report", TINY, "--course", course, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["statuses"] == {"graded": 5, "unreadable": 1, "missing": 1}
    assert (found["scores"]["count"], found["scores"]["highest"], found["max_score"]) == (6, 5, 8)
    assert found["alike"] == [["ada", "copy"]], "those who handed in the blank notebook are not meant"
    assert found["to_grade"] == {"answers": 2, "students": 2}
    add, double, why = found["tasks"]
    assert (add["title"], add["full_marks"], add["blank"], add["no_points"]) == ("Task 1. Add", 3, 2, 1)
    assert double["most_failed"][0] == {"case": "two is doubled", "hidden": False, "students": 1}
    assert (why["to_grade"], why["by_hand"]) == (2, True)
    assert {one["student"]: one["status"] for one in found["flagged"]} == {"cy": "unreadable", "missing": "missing"}
    assert len(found["seconds"]["slowest"]) == 5
    assert not (course / f"{TINY}_report.html").exists()


def test_the_page_is_written_and_an_earlier_one_replaced(course: Path) -> None:
    path = course / f"{TINY}_report.html"
    for _ in range(2):
        assert autograder("report", TINY, "--course", course).stdout == f"{path}\n"
    page = path.read_text()
    assert "ada, copy" in page
    assert "negative numbers" in page or "add" in page.lower()
    assert "check.equal" not in page, "no test's source"
    assert "<script" not in page


def test_no_other_file_is_replaced(course: Path) -> None:
    mine = course / "mine.html"
    mine.write_text("mine")
    for target, said in ((mine, "no class report"), (course / "none" / "x.html", "no such directory")):
        result = autograder("report", TINY, "--course", course, "--to", target)
        assert (result.exit_code, said in result.stderr) == (1, True)
    assert mine.read_text() == "mine"


def test_a_lab_that_nobody_has_handed_in_has_a_report(tiny: Path) -> None:
    said = f"{TINY}: nothing has been graded yet; autograder grade {TINY}\n"
    result = autograder("report", TINY, "--course", tiny)
    assert (result.exit_code, result.stderr) == (0, f"note: {said}")
    numbers = autograder("report", TINY, "--course", tiny, "--json")
    assert (json.loads(numbers.stdout)["scores"]["count"], numbers.stderr) == (0, f"note: {said}")
    exported = autograder("export", "--lab", TINY, "--to", "-", "--course", tiny)
    assert (exported.exit_code, exported.stderr) == (0, f"{said}0 rows\n")
    assert "Nobody has a score yet." in (tiny / f"{TINY}_report.html").read_text()
