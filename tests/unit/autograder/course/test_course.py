"""A course's directories and settings, as its nbgrader_config.py puts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course import Course, open_course
from autograder.course.converters import Complaints
from autograder.course.gradebook import place
from autograder.errors import CourseError


def _course(root: Path, *lines: str) -> Course:
    root.mkdir(exist_ok=True)
    (root / "nbgrader_config.py").write_text("\n".join(["c = get_config()", *lines]))
    return open_course(root)


@pytest.mark.parametrize(
    "structure",
    [
        "{nbgrader_step}/{student_id}/{assignment_id}",
        "{assignment_id}/{nbgrader_step}/{student_id}",
        "{nbgrader_step}/{assignment_id}-{student_id}",
        "deep/{nbgrader_step}/{student_id}/{assignment_id}/{student_id}",
    ],
)
def test_who_handed_in_is_found_in_any_structure(structure: str, tmp_path: Path) -> None:
    course = _course(tmp_path / "[a] *", f"c.CourseDirectory.directory_structure = {structure!r}")
    students = ["ann", "b c", "[d]", "é"]
    for student in students:
        course.submitted(student, "lab[1]").mkdir(parents=True)
    course.submitted("eve", "lab1").mkdir(parents=True)
    course.submitted("a-file", "lab[1]").parent.mkdir(parents=True, exist_ok=True)
    course.submitted("a-file", "lab[1]").touch()
    assert course.submitters("lab[1]") == sorted(students)


@pytest.mark.parametrize("written", ["dropout,teacher", "dropout, teacher", " dropout ,\\n\\tteacher, "])
def test_those_left_out_are_left_out_however_the_commas_are_set(written: str, tmp_path: Path) -> None:
    course = _course(tmp_path / "c", f"c.CourseDirectory.student_id_exclude = '{written}'")
    for student in ("ann", "dropout", "teacher"):
        course.submitted(student, "lab").mkdir(parents=True)
    assert course.submitters("lab") == ["ann"]
    assert course.excluded == {"dropout", "teacher"}


def test_nobody_is_left_out_where_nobody_is_named(tmp_path: Path) -> None:
    assert _course(tmp_path / "c").excluded == set()


def test_labs_with_a_notebook_are_the_sources(tmp_path: Path) -> None:
    course = _course(tmp_path / "c")
    for lab in ("ps2", "ps1", "empty"):
        course.source(lab).mkdir(parents=True)
    for lab in ("ps1", "ps2"):
        (course.source(lab) / "problem.ipynb").touch()
    assert course.sources() == ["ps1", "ps2"]


def test_files_leave_out_what_is_ignored_and_links(tmp_path: Path) -> None:
    course = _course(tmp_path / "c", "c.CourseDirectory.ignore = ['*.pyc', 'secret']")
    folder = tmp_path / "c/submitted"
    for name in ("a.txt", "data/b.csv", "x.pyc", "secret/c.txt", "lab.ipynb", "timestamp.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "link").symlink_to(folder / "a.txt")
    (folder / "folder").symlink_to(folder / "secret")
    assert course.files(folder) == {name: folder / name for name in ("a.txt", "data/b.csv")}
    assert course.files(folder / "none") == {}


def test_what_the_configuration_leaves_to_the_student_is_not_given(tmp_path: Path) -> None:
    course = _course(tmp_path / "c", "c.Autograde.exclude_overwriting = {'lab': ['mine.txt']}")
    for name in ("mine.txt", "given.txt"):
        course.source("lab").mkdir(parents=True, exist_ok=True)
        (course.source("lab") / name).touch()
    assert list(course.given_files("lab")) == ["given.txt"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b"2030-01-02 03:04:05 UTC\n", "2030-01-02 03:04:05 UTC"),
        (b"2015-02-02 14:58:23.948203 America/Los_Angeles", "2015-02-02 14:58:23.948203 America/Los_Angeles"),
        (b"", ""),
        (b"yesterday", ""),
        (b"\xff\xfe", ""),
        (b"9" * 5000, ""),
    ],
)
def test_a_timestamp_that_cannot_be_read_counts_as_none(text: bytes, kept: str, tmp_path: Path) -> None:
    course = _course(tmp_path / "c")
    (tmp_path / "timestamp.txt").write_bytes(text)
    assert course.timestamp(tmp_path) == kept


def test_a_relative_database_belongs_to_the_course_and_not_to_the_caller(tmp_path: Path) -> None:
    course = _course(tmp_path / "c", "c.CourseDirectory.db_url = 'sqlite:///db/grades.db'")
    assert place(course.directory.db_url) == tmp_path / "c/db/grades.db"
    assert place(_course(tmp_path / "d").directory.db_url) == tmp_path / "d/gradebook.db"


def test_a_database_elsewhere_is_named_without_its_password() -> None:
    assert place("postgresql://ann:secret@host/grades") == "postgresql://ann:***@host/grades"


def test_neither_path_nor_working_directory_are_left_changed(tmp_path: Path) -> None:
    import sys

    before = (Path.cwd(), sys.path.copy())
    _course(tmp_path / "c", "import sys", "sys.path.append('/nowhere')")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py:2: ZeroDivisionError"):
        _course(tmp_path / "d", "1 / 0")
    assert (Path.cwd(), sys.path) == before


def test_of_nbgraders_complaints_the_exception_is_told() -> None:
    log = Complaints()
    log.error("There was an error processing assignment: %s", "lab")
    log.error("Traceback (most recent call last):\n  File x\nOSError: disk full\n")
    assert log.take() == "OSError: disk full"
    log.error("One or more notebooks use an old version \nof the metadata format.")
    assert log.take() == "One or more notebooks use an old version  of the metadata format."
    assert log.take() == ""
