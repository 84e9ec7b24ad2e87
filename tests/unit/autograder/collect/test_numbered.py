"""Canvas numbers the name of a file that a student has sent before; what lies beside a notebook gets its own back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.autograder.collect.desk import Course, collected, notebook, said, there

OPENS = 'open("own.csv")'
UUID = "3f2a7c1e-90ab-4cde-8f01-23456789abcd"


def taken(course: Course, files: Sequence[str], book: str = "lab-1.ipynb", says: str = OPENS) -> list[str]:
    """Collect one student's files as Canvas hands them out; return those that stand beside the notebook then."""
    named = [(f"ada_1_{number}_{name}", name) for number, name in enumerate(files, 20)]
    collected(course, [(f"ada_1_10_{book}", notebook("x", says)), *named], force=True)
    return [name.removeprefix("ada/lab/") for name in there(course) if not name.endswith(".ipynb")]


@pytest.mark.parametrize("number", ["1", "7", UUID])
def test_a_file_that_the_notebook_opens_gets_its_name_back_whatever_its_number(course: Course, number: str) -> None:
    files: dict[str, bytes | str] = {"ada_1_2_lab-2.ipynb": notebook("x", OPENS), f"ada_1_3_own-{number}.csv": "1,2"}
    rows = collected(course, files)
    assert there(course) == {"ada/lab/lab.ipynb": "x", "ada/lab/own.csv": "1,2"}
    assert said(rows)["ada"].endswith(f"was lab-2.ipynb; own.csv was own-{number}.csv")
    assert taken(course, [f"own-{number}.csv"], "lab.ipynb") == ["own.csv"], "sent for another lab before"


def test_where_the_notebook_came_with_a_number_so_did_what_lies_beside_it(course: Course) -> None:
    assert taken(course, ["own-3.tar.x", "a b-1.txt", "plain.csv"], says="") == ["a b.txt", "own.tar.x", "plain.csv"]
    assert taken(course, ["own-1.csv"], "lab.ipynb", says="") == ["own-1.csv"], "nothing says that this is Canvas's"
    assert taken(course, ["data-1-2.csv", "data-2-1.csv"]) == ["data-1.csv", "data-2.csv"]


@pytest.mark.parametrize("says", ['open("own-1.csv")', "![it](own-1.csv)", OPENS + 'open("own-1.csv")'])
def test_a_number_that_the_notebook_knows_is_the_student_s(course: Course, says: str) -> None:
    assert taken(course, ["own-1.csv"], says=says) == ["own-1.csv"]


def test_a_number_that_the_lab_knows_is_the_instructor_s(course: Course) -> None:
    course.text = "for part in (1,): read('own-1.csv')"
    assert taken(course, ["own-1.csv"]) == ["own-1.csv"]
    course.text, course.given = "", ["own-1.csv"]
    assert taken(course, ["own-1.csv"]) == ["own-1.csv"]
    course.given = ["own.csv"]
    assert taken(course, ["own-1.csv"], "lab.ipynb", says="") == ["own.csv"]


@pytest.mark.parametrize(
    "files",
    [
        ["own-1.csv", "own.csv"],
        ["OWN.csv", "own-1.csv"],
        ["own-1.csv", "own-2.csv"],
        ["own-1-1.csv", "own-1.csv", "own.csv"],
        ["own-2024.csv"],
        ["own-8.csv"],
    ],
)
def test_a_name_that_is_or_could_be_another_file_s_is_left_alone(course: Course, files: list[str]) -> None:
    assert taken(course, files, says="") == sorted(files)


def test_a_file_that_was_too_large_keeps_its_name_for_itself(course: Course) -> None:
    files = {"ada_1_2_lab-1.ipynb": notebook("x", OPENS), "ada_1_3_own.csv": "x" * 1001, "ada_1_4_own-1.csv": "1"}
    collected(course, files)
    assert "ada/lab/own-1.csv" in there(course)


def test_no_number_makes_a_time_of_handing_in(course: Course) -> None:
    assert taken(course, ["timestamp-1.txt"]) == ["timestamp-1.txt"]


def test_nobody_but_canvas_numbers_files(course: Course) -> None:
    collected(course, {"ada/lab-1.ipynb": notebook("x", OPENS), "ada/own-1.csv": "1", "bob/lab.ipynb": ""})
    assert "ada/lab/own-1.csv" in there(course)


def test_of_notebooks_that_canvas_has_given_a_uuid_each_is_found(course: Course) -> None:
    course.names = ["p1", "p2"]
    collected(course, {f"ada_1_2_p1-{UUID}.ipynb": "one", f"ada_1_3_p2-{UUID}.ipynb": "two"})
    assert there(course) == {"ada/lab/p1.ipynb": "one", "ada/lab/p2.ipynb": "two"}
