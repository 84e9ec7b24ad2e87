"""A lab with several notebooks: each file is the one whose cells it has, and nothing is missing without a word."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.collect import Row
from tests.unit.autograder.collect.desk import LAB, Course, collected, there, zipped

IDS = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "shared"], "c": ["c1", "c2", "shared"]}


class _Several(Course):
    def notebooks(self, lab: str) -> dict[str, list[Any]]:
        assert lab == LAB
        return {name: [SimpleNamespace(source="", grade_id=own) for own in IDS[name]] for name in self.names}


@pytest.fixture
def course(course: Course) -> Course:
    made = _Several(**vars(course))
    made.names = ["a", "b"]
    return made


def work(text: str, *ids: str) -> bytes:
    """Return a notebook that says this, with cells of these grade_ids."""
    cells = [
        {"cell_type": "markdown", "id": own, "source": "", "metadata": {"nbgrader": {"grade_id": own}}} for own in ids
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"said": text}, "cells": cells}).encode()


A, B = work("my a", *IDS["a"]), work("my b", *IDS["b"])


def placed(rows: list[Row]) -> Row:
    return next(row for row in rows if row.placed)


@pytest.mark.parametrize(
    ("first", "second"),
    [("A (1).ipynb", "b-final.ipynb"), ("a.ipynb", "a (1).ipynb"), ("b.ipynb", "a.ipynb"), ("x.ipynb", "y.ipynb")],
)
def test_a_file_is_the_notebook_whose_cells_it_has(course: Course, first: str, second: str) -> None:
    rows = collected(course, {f"ada_1_901_{first}": A, f"ada_1_902_{second}": B})
    assert there(course) == {"ada/lab/a.ipynb": "my a", "ada/lab/b.ipynb": "my b"}
    assert [(row.lost, row.missing) for row in rows if row.file] == [(False, ())]
    assert f"b.ipynb was {second}, by its cells" in placed(rows).what


def test_one_alone_is_found_under_another_name_in_a_zip_file_too(course: Course, tmp_path: Path) -> None:
    own = zipped(tmp_path / "own.zip", {"homework.ipynb": B}).read_bytes()
    rows = collected(course, {"ada_1_901_homework.ipynb": B, "bob_2_902_own.zip": own})
    assert there(course) == {"ada/lab/b.ipynb": "my b", "bob/lab/b.ipynb": "my b"}
    assert placed(rows).missing == ("a.ipynb",)


def test_a_file_that_is_called_so_goes_before_another_with_the_same_cells(course: Course) -> None:
    files = {"ada_1_901_a.ipynb": A, "ada_1_902_b.ipynb": B, "ada_1_903_last.ipynb": work("later b", *IDS["b"])}
    rows = collected(course, files)
    assert there(course) == {"ada/lab/a.ipynb": "my a", "ada/lab/b.ipynb": "my b"}
    assert rows[-1].what == "left out: another notebook, newer than b.ipynb, which is taken for its name"


@pytest.mark.parametrize("content", [work("x"), work("x", "a1"), work("x", "a1", "b1"), b"no notebook"])
def test_where_cells_do_not_say_it_the_name_does(course: Course, content: bytes) -> None:
    rows = collected(course, {"ada_1_901_b.ipynb": content, "ada_1_902_a.ipynb": A})
    assert placed(rows).file == "a.ipynb, b.ipynb"
    assert not placed(rows).missing


def test_cells_that_two_notebooks_share_decide_nothing(course: Course) -> None:
    course.names = ["b", "c"]
    collected(course, {"ada_1_901_c.ipynb": work("my c", "b1", "c1", "shared")})
    assert there(course) == {"ada/lab/c.ipynb": "my c"}


def test_what_is_missing_is_said_and_what_the_one_before_had(course: Course) -> None:
    both = {"ada_1_901_a.ipynb": A, "ada_1_902_b.ipynb": B, "bob_2_903_a.ipynb": A}
    rows = collected(course, both)
    assert [(row.student, row.what, row.missing) for row in rows if row.file] == [
        ("ada", "new", ()), ("bob", "new; b.ipynb is missing", ("b.ipynb",))
    ]  # fmt: skip
    assert "unchanged; b.ipynb is missing" in [row.what for row in collected(course, both)]
    again = placed(collected(course, {"ada_1_904_b.ipynb": work("better b", *IDS["b"])}, force=True))
    assert again.what.startswith("replaced; the one before is in .autograder/replaced/lab/ada/")
    assert again.what.endswith("; a.ipynb is missing; the one before had a.ipynb")
    assert not again.lost
    kept = placed(collected(course, {"ada_1_901_a.ipynb": work("old a", *IDS["a"])}))
    assert (kept.placed, kept.missing) == ("kept", ())
