"""Reading what a student handed in, before anything of it is trusted."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from autograder.course import Course, open_course
from autograder.errors import SubmissionError, in_one_line
from autograder.submission.handin import Handin, kept_as, read_handin
from tests.unit.autograder.deep import deep_folder

NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.max_dir_size = 1\n")
    return open_course(tmp_path)


def _read(course: Course) -> Handin:
    return read_handin(course, "lab", ["one", "two"], "ann")


@pytest.fixture
def folder(course: Course) -> Path:
    path = course.submitted("ann", "lab")
    path.mkdir(parents=True)
    return path


def test_notebooks_of_the_lab_are_read_and_others_named(course: Course, folder: Path) -> None:
    (folder / "one.ipynb").write_bytes(NOTEBOOK)
    (folder / "Untitled.ipynb").write_bytes(b"x")
    handin = _read(course)
    assert handin.notebooks == {"one": NOTEBOOK}
    assert handin.others == ("Untitled.ipynb",)
    assert not handin.empty


def test_nothing_at_all_is_empty(course: Course) -> None:
    assert _read(course).empty


def test_what_never_ends_is_not_opened(course: Course, folder: Path) -> None:
    os.mkfifo(folder / "one.ipynb")
    (folder / "two.ipynb").mkdir()
    handin = _read(course)
    assert handin.problems == {
        name: f"{name}.ipynb: not a file; hand in the notebook itself" for name in ("one", "two")
    }
    assert not handin.empty


def test_files_beside_it_are_kept_up_to_the_courses_limit(course: Course, folder: Path) -> None:
    for name, size in (("a", 600), ("b", 600), ("c", 400)):
        (folder / name).write_bytes(b"x" * size)
    handin = _read(course)
    assert list(handin.files) == ["a", "c"]
    assert handin.notes == ("b: left out: the files beside the notebook are too large (max_dir_size)",)


def test_the_instructor_s_names_are_theirs_and_what_stands_in_the_way_is_named(course: Course, folder: Path) -> None:
    source = course.source("lab")
    for name in ("figures/a.svg", "data.csv", "own.csv"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("instructor's")
    (folder / "figures").write_text("a file where a folder is to be")
    (folder / "data.csv").mkdir()
    (folder / "data.csv" / "x").write_text("a folder where a file is to be")
    (folder / "own.csv").write_text("own")
    handin = _read(course)
    assert list(handin.files) == ["own.csv"]
    why = "left out: the instructor's files need this name"
    assert handin.notes == (f"data.csv/x, figures: {why}",)


def test_a_link_or_a_pipe_is_left_out_and_named(course: Course, folder: Path) -> None:
    (folder / "one.ipynb").write_bytes(NOTEBOOK)
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "all").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    handin = _read(course)
    assert handin.files == {}
    assert handin.notes == (
        "all, passwd: left out: a link, not a file",
        "pipe: left out: not an ordinary file",
    )


@pytest.mark.parametrize("name", ["one.ipynb", "data.csv", "data"])
def test_what_may_not_be_read_is_no_fault_of_the_students(
    name: str, course: Course, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever runs the tests as root may read everything: so the calls are made to fail."""
    (folder / "one.ipynb").write_bytes(NOTEBOOK)
    (folder / "data.csv").write_text("1")
    (folder / "data").mkdir()

    def refuses(own: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(path: Path | str, *arguments: Any, **options: Any) -> Any:
            if Path(path) == folder / name:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return own(path, *arguments, **options)

        return refuse

    monkeypatch.setattr(Path, "open", refuses(Path.open))
    monkeypatch.setattr(Path, "read_bytes", refuses(Path.read_bytes))
    monkeypatch.setattr(os, "scandir", refuses(os.scandir))
    with pytest.raises(PermissionError):
        _read(course)


def test_a_change_of_any_part_changes_the_content(course: Course, folder: Path) -> None:
    (folder / "one.ipynb").write_bytes(NOTEBOOK)
    seen = [dict(_read(course).content())]
    for name, text in (
        ("data.csv", "1"),
        ("data.csv", "2"),
        ("timestamp.txt", "2030-01-01 00:00:00 UTC"),
        ("two.ipynb", ""),
    ):
        (folder / name).write_text(text)
        seen.append(dict(_read(course).content()))
    assert all(before != after for before, after in pairwise(seen))


def test_an_error_and_its_hint_stand_on_one_line() -> None:
    assert in_one_line(SubmissionError("a\nb", hint="fix it")) == "a; b; fix it"


def test_a_folder_too_deep_is_left_out_and_named(course: Course, folder: Path) -> None:
    (folder / "one.ipynb").write_bytes(NOTEBOOK)
    with deep_folder(folder):
        handin = _read(course)
    assert (list(handin.notebooks), handin.files) == (["one"], {})
    assert handin.notes == (f"{'a/' * 24}a: left out: more than 24 folders deep",)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.symlink_to("/"), "a link, not a file"),
        (lambda path: path.mkdir(), "more than 24 folders deep"),
        (lambda path: path.write_bytes(b"x" * 1001), "the files beside the notebook are too large (max_dir_size)"),
    ],
)
def test_of_many_that_are_left_out_five_are_named_and_the_others_counted(
    make: Callable[[Path], object], why: str, course: Course, folder: Path
) -> None:
    below = folder.joinpath(*["a"] * 24)
    below.mkdir(parents=True)
    for number in range(300):
        make(below / f"{'é' * 110}{number:03}")
    (note,) = _read(course).notes
    assert note.endswith(f" and 295 more: left out: {why}")
    assert len(note) < 5 * 200 + 100


def test_of_many_that_stand_in_the_way_five_are_named_and_the_others_counted(course: Course, folder: Path) -> None:
    (course.source("lab")).mkdir(parents=True)
    (course.source("lab") / "data.csv").write_text("instructor's")
    (folder / "data.csv").mkdir()
    for number in range(300):
        (folder / "data.csv" / f"{'é' * 110}{number:03}").write_text("")
    (note,) = _read(course).notes
    assert note.endswith(" and 295 more: left out: the instructor's files need this name")
    assert len(note) < 5 * 200 + 100


def test_nothing_is_looked_for_below_a_path_that_is_too_long(course: Course, folder: Path) -> None:
    """Twenty-four long names make a path that, fifty thousand times, is hundreds of megabytes."""
    below = folder
    for _ in range(24):
        below /= "é" * 72
        below.mkdir()
    for number in range(300):
        (below / f"{number:03}").mkdir()
    (note,) = _read(course).notes
    assert note.endswith("...: left out: its path is longer than 1000 bytes")
    assert len(note) < 300


@pytest.mark.parametrize("name", ["a.html", "a.HTM", "b/a.svg", "a.xhtml", "a.xml", "a.rss", "a.js", "a.html.html"])
def test_what_a_browser_would_run_is_kept_as_text(name: str) -> None:
    assert kept_as(name, []) == f"{name}.txt"
    assert kept_as(name, [f"{name}.txt"]) == f"{name}-1.txt"
    assert kept_as(name, [f"{name}.txt/inner", f"{name}-1.txt"]) == f"{name}-2.txt"


@pytest.mark.parametrize("letter", ["a", "é", "字"])
def test_a_name_that_is_as_long_as_it_may_be_is_cut(letter: str, tmp_path: Path) -> None:
    name = letter * (250 // len(letter.encode())) + ".html"
    kept = kept_as(f"b/{name}", [])
    assert kept.endswith(".txt")
    (tmp_path / kept).parent.mkdir()
    (tmp_path / kept).touch()


@pytest.mark.parametrize("name", ["a.png", "data.csv", "notes.txt", "helper.py", "a.xlsx", "a.json", "README", "a.pdf"])
def test_other_files_keep_their_names(name: str) -> None:
    assert kept_as(name, []) == name
