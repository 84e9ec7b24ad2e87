"""Whoever was collected before under another id is not collected a second time without a word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from autograder.errors import CourseError
from tests.unit.autograder.collect.desk import LAB, Course, collected, notebook, roster, said, there, zipped

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",101,S1,ada,A
"O'Neill, Tip",102,S2,tip,A
"Hopper, Grace",103,S3,grace,A
"""
CLASS = {
    "lovelaceada_101_9001_lab.ipynb": "ada's", "oneilltip_102_9002_lab.ipynb": "tip's",
    "hoppergrace_103_9003_lab.ipynb": "grace's",
}  # fmt: skip
NEXT = {"turingalan_104_9004_lab.ipynb": "alan's", "noetheremmy_105_9005_lab.ipynb": "emmy's"}


def students(course: Course) -> list[str]:
    return [name.split("/")[0] for name in there(course)]


def test_an_archive_collected_again_without_its_roster_is_refused(course: Course) -> None:
    collected(course, CLASS, roster=roster(course, CANVAS))
    before = there(course)
    for dry_run in (True, False):
        with pytest.raises(CourseError) as error:
            collected(course, CLASS, dry_run=dry_run)
        assert str(error.value).partition("in.zip: ")[2].splitlines() == [
            "the notebooks of 3 of 3 students are, byte for byte, those of submissions that were collected under other"
            " ids: hoppergrace is grace, lovelaceada is ada, oneilltip is tip; --roster FILE was given then, perhaps,"
            " and is missing now",
            "hint: give the --roster FILE that was given then; --force collects all of them under these ids, too",
        ]
    assert there(course) == before
    rows = collected(course, CLASS, force=True)
    assert len(students(course)) == 6
    assert [row.what for row in rows if row.placed and row.student == "lovelaceada"] == [
        "new; byte for byte what was collected as ada's: one student under two ids? --roster FILE was given then,"
        " perhaps, and is missing now"
    ]


def test_nor_with_a_roster_after_it_was_collected_without(course: Course) -> None:
    collected(course, CLASS)
    with pytest.raises(CourseError, match=r"ada is lovelaceada, .*without --roster FILE then, perhaps\n.*two ids"):
        collected(course, CLASS, roster=roster(course, CANVAS))
    assert students(course) == ["hoppergrace", "lovelaceada", "oneilltip"]


def test_one_among_others_is_collected_with_a_word(course: Course) -> None:
    collected(course, {"ada/lab.ipynb": "ada's"}, system="folders")
    found = said(collected(course, {**NEXT, "lovelaceada_101_9001_lab.ipynb": "ada's"}))
    assert "what was collected as ada's" in found["lovelaceada"]
    assert {found[name] for name in ("turingalan", "noetheremmy")} == {"new"}


@pytest.mark.parametrize("asked", [("lovelaceada",), ("lovelaceada", "oneilltip")])
def test_who_is_not_asked_for_does_not_count(course: Course, asked: Sequence[str]) -> None:
    collected(course, {"ada/lab.ipynb": "ada's", "tip/lab.ipynb": "tip's"}, system="folders")
    if len(asked) > 1:
        with pytest.raises(CourseError, match="2 of 2 students"):
            collected(course, {**NEXT, **CLASS}, students=asked)
    else:
        assert "as ada's" in said(collected(course, {**NEXT, **CLASS}, students=asked))["lovelaceada"]


def test_two_who_hand_in_the_same_and_who_has_done_nothing_are_no_one_student(course: Course) -> None:
    released = Path(course.released(LAB))
    released.mkdir(parents=True)
    (released / "lab.ipynb").write_bytes(notebook("blank"))
    files = {"ada/lab.ipynb": "one", "tip/lab.ipynb": "blank", "kim/lab.ipynb": "blank"}
    collected(course, files, system="folders")
    assert said(collected(course, {**files, "bob/lab.ipynb": "one"}, system="folders"))["bob"] == "new"
    rows = collected(course, {"eve/lab.ipynb": "blank", "lee/lab.ipynb": "blank"}, system="folders")
    assert {row.what for row in rows} == {"new"}


def test_a_notebook_in_a_student_s_own_zip_file_is_compared_too(course: Course, tmp_path: Path) -> None:
    packed = zipped(tmp_path / "own.zip", {"lab.ipynb": "ada's"}).read_bytes()
    collected(course, {"ada/own.zip": packed, "tip/lab.ipynb": "tip's"}, system="folders")
    with pytest.raises(CourseError, match="lovelaceada is ada, oneilltip is tip"):
        collected(course, {"lovelaceada/own.zip": packed, "oneilltip/lab.ipynb": "tip's"}, system="folders")
