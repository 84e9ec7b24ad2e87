"""A notebook that will not be graded is named when it comes in, and does not take the place of one that would be."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.collect import Row
from autograder.errors import CourseError
from tests.unit.autograder.collect.desk import LAB, Course, collected, folder_of, notebook, text_of, there

NOW, LATER = (2026, 11, 20, 12, 0, 0), (2026, 11, 21, 12, 0, 0)
HINT = "hand in the .ipynb file that JupyterLab saves"


def cells(*names: str) -> bytes:
    """Return a notebook with these grade_ids; one without a name has no metadata of nbgrader's."""
    made: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{number}", "source": "x", "outputs": [], "execution_count": None,
         "metadata": {"nbgrader": {"grade_id": name}} if name else {}}
        for number, name in enumerate(names)
    ]  # fmt: skip
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


UNUSABLE = {
    b"": f"lab.ipynb: the file is empty; {HINT}",
    b" \n": f"lab.ipynb: the file is empty; {HINT}",
    b"<html>Sign in</html>": f"lab.ipynb: not JSON; {HINT}",
    notebook("x")[:-5]: f"lab.ipynb: not JSON; {HINT}",
    b"\xff\xfe{": f"lab.ipynb: not a text file (byte 0 is not UTF-8); {HINT}",
    b"[]": f"lab.ipynb: not a notebook of nbformat 1 to 4; {HINT}",
    cells("", ""): "lab.ipynb: no cell has nbgrader's metadata: another program may have saved the file",
    cells("theirs-1", "theirs-2", "theirs-3", ""): "lab.ipynb: this is the notebook of other",
}


class _WithOthers(Course):
    """The lab has cells of its own, another has others, a third was not released."""

    def labs(self) -> list[str]:
        return [LAB, "other", "unreleased"]

    def notebooks(self, lab: str) -> dict[str, list[Any]]:
        if lab == "unreleased":
            raise CourseError("not released")
        whose = "own" if lab == LAB else "theirs"
        rows = [SimpleNamespace(grade_id=f"{whose}-{number}") for number in range(1, 4)]
        return dict.fromkeys(self.names if lab == LAB else ["other"], rows)


@pytest.fixture
def course(course: Course) -> Course:
    return _WithOthers(**vars(course))


def handed_in(course: Course, content: bytes, when: Any = NOW, **more: Any) -> list[Row]:
    path = folder_of(course) / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("ada/lab.ipynb", when), content)
    return collected(course, path, **more)


def standing(course: Course) -> Path:
    return Path(course.submitted("ada", LAB) / "lab.ipynb")


@pytest.mark.parametrize("content", UNUSABLE, ids=list(UNUSABLE.values()))
def test_one_that_cannot_be_graded_is_named_and_kept_where_there_is_no_other(course: Course, content: bytes) -> None:
    (row,) = handed_in(course, content)
    assert row.what.startswith(f"new; cannot be graded: {UNUSABLE[content]}")
    assert row.lost
    assert standing(course).read_bytes() == content
    (row,) = handed_in(course, content)
    assert row.what.startswith(f"unchanged; cannot be graded: {UNUSABLE[content]}")
    assert row.lost


@pytest.mark.parametrize("content", UNUSABLE, ids=list(UNUSABLE.values()))
@pytest.mark.parametrize("good", [notebook("good"), cells("own-1", "own-2", "own-3"), cells("own-1", "theirs-1")])
def test_it_does_not_take_the_place_of_one_that_can_be(course: Course, content: bytes, good: bytes) -> None:
    handed_in(course, good)
    (row,) = handed_in(course, content, LATER)
    assert row.what == f"left out: {UNUSABLE[content]}; the one from before is kept; --force replaces it"
    assert row.lost
    assert standing(course).read_bytes() == good
    (row,) = handed_in(course, content, LATER, dry_run=True)
    assert row.lost
    (row,) = handed_in(course, content, LATER, force=True)
    assert row.what.startswith("replaced; the one before is in")
    assert standing(course).read_bytes() == content


def test_one_that_cannot_be_graded_gives_way_to_another_even_to_one_that_cannot_be_either(course: Course) -> None:
    handed_in(course, b"")
    (row,) = handed_in(course, b"not JSON", LATER)
    assert row.what.startswith("replaced")
    (row,) = handed_in(course, notebook("good"), (2026, 11, 22, 12, 0, 0))
    assert not row.lost
    assert text_of(standing(course)) == "good"


def test_an_older_one_that_cannot_be_graded_changes_nothing_and_is_nobody_s_trouble(course: Course) -> None:
    handed_in(course, notebook("good"), LATER)
    (row,) = handed_in(course, b"", NOW)
    assert row.what.startswith("kept")
    assert not row.lost


def test_of_two_notebooks_the_other_one_is_not_taken_alone(course: Course) -> None:
    course.names = [LAB, "second"]
    both = folder_of(course) / "both.zip"
    for when, first, second in ((NOW, notebook("1"), notebook("2")), (LATER, b"", notebook("new"))):
        with zipfile.ZipFile(both, "w") as archive:
            archive.writestr(zipfile.ZipInfo("ada/lab.ipynb", when), first)
            archive.writestr(zipfile.ZipInfo("ada/second.ipynb", when), second)
        rows = collected(course, both)
    assert [row.lost for row in rows] == [True]
    assert text_of(standing(course)) == "1"
    assert text_of(standing(course).with_name("second.ipynb")) == "2"


@pytest.mark.parametrize("content", UNUSABLE, ids=list(UNUSABLE.values()))
def test_it_gives_way_to_an_older_one_that_can_be(course: Course, content: bytes) -> None:
    handed_in(course, content, LATER)
    (row,) = handed_in(course, notebook("good"), NOW)
    assert row.what.startswith("replaced; the one before is in")
    assert not row.lost
    assert text_of(standing(course)) == "good"


# ------------------------------------------------------------------------------------------- several in one archive
GOOD, WORD = notebook("good"), b"<html>Sign in</html>"


def several(course: Course, *files: tuple[str, bytes, Any], **more: Any) -> list[Row]:
    path = folder_of(course) / "several.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content, when in files:
            archive.writestr(zipfile.ZipInfo(name, when), content)
    return collected(course, path, **more)


@pytest.mark.parametrize("content", UNUSABLE, ids=list(UNUSABLE.values()))
def test_a_newer_file_that_cannot_be_graded_is_passed_over_for_an_older_one(course: Course, content: bytes) -> None:
    rows = several(course, ("ada/lab.ipynb", GOOD, NOW), ("ada/lab (1).ipynb", content, LATER))
    assert standing(course).read_bytes() == GOOD
    assert rows[0].what == f"new; lab (1).ipynb is newer, and cannot be graded: {UNUSABLE[content]}"
    assert not rows[0].lost
    assert [(row.file, row.lost) for row in rows[1:]] == [("lab (1).ipynb", False)]


def test_a_newer_attempt_that_cannot_be_graded_is_passed_over_for_an_older_one(course: Course) -> None:
    who = "  :submitters:\n  - :name: Ada\n    :sid: ada\n"
    days = {"submission_1": 18, "submission_2": 19, "submission_3": 20}
    metadata = "---\n" + "".join(f"{n}:\n{who}  :created_at: 2026-11-{d} 10:00:00 Z\n" for n, d in days.items())
    contents = zip(days, (notebook("older"), GOOD, WORD), strict=True)
    rows = several(
        course,
        ("submission_metadata.yml", metadata.encode(), NOW),
        *((f"{name}/lab.ipynb", content, NOW) for name, content in contents),
    )
    row = next(row for row in rows if row.placed)
    assert "the newest of 3 attempts in which there is a notebook to grade" in row.what
    assert "lab.ipynb is newer, and cannot be graded: lab.ipynb: not JSON" in row.what
    assert not row.lost
    assert there(course) == {"ada/lab/lab.ipynb": "good", "ada/lab/timestamp.txt": "2026-11-19 10:00:00 UTC\n"}


def test_where_none_can_be_graded_the_newest_counts(course: Course) -> None:
    files = [(f"ada/lab ({number}).ipynb", WORD, (2026, 11, number, 12, 0, 0)) for number in range(1, 15)]
    for some in files[:3], files:
        rows = several(course, *some, force=True)
        placed = next(row for row in rows if row.placed)
        assert placed.lost
        assert f"was {some[-1][0][4:]}" in placed.what
        assert "is newer" not in placed.what


def test_of_two_notebooks_an_older_one_is_taken_where_the_newer_is_broken(course: Course) -> None:
    course.names = [LAB, "second"]
    rows = several(
        course,
        ("ada/lab.ipynb", GOOD, NOW),
        ("ada/lab (1).ipynb", WORD, LATER),
        ("ada/second.ipynb", notebook("2"), LATER),
    )
    assert not any(row.lost for row in rows)
    assert [text_of(standing(course).with_name(f"{name}.ipynb")) for name in course.names] == ["good", "2"]


# ------------------------------------------------------------------------------------------- another lab's archive
OWN, THEIRS = cells("own-1", "own-2", "own-3"), cells("theirs-1", "theirs-2", "theirs-3")


def class_of(*notebooks: bytes) -> list[tuple[str, bytes, Any]]:
    return [(f"s{number:02}/lab.ipynb", content, NOW) for number, content in enumerate(notebooks)]


def test_an_archive_of_another_lab_is_refused_as_a_whole(course: Course) -> None:
    with pytest.raises(CourseError) as caught:
        several(course, *class_of(THEIRS, OWN, THEIRS))
    assert "of 3 students' notebooks that were looked at 2 are not lab's: this is the notebook of other" in str(
        caught.value
    )
    assert (
        caught.value.hint == "is it the right archive, and the right lab? --force collects it for this one all the same"
    )
    assert not there(course)
    rows = several(course, *class_of(THEIRS, OWN, THEIRS), force=True)
    assert [row.lost for row in rows if row.placed] == [True, False, True]


@pytest.mark.parametrize("notebooks", [[THEIRS], [THEIRS, OWN], [THEIRS, OWN, THEIRS, OWN], [THEIRS, WORD, WORD]])
def test_single_students_who_mistook_the_lab_keep_nobody_out(course: Course, notebooks: list[bytes]) -> None:
    rows = several(course, *class_of(*notebooks))
    assert len([row for row in rows if row.placed]) == len(notebooks)
