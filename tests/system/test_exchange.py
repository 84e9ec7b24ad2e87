"""Grading and feedback as formgrader's icons do them, and how a page comes to its student by nbgrader's exchange."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.course import open_course
from tests.system.courses import ADD, DOUBLE, TINY, answered, hand_in, process

pytestmark = pytest.mark.slow

CONFIG = """
from autograder.course import hand_over

c = get_config()
c.CourseDirectory.course_id = "tiny"
c.CourseDirectory.ignore = ["*.py", "*.toml"]
c.Exchange.root = c.Exchange.cache = "{exchange}"
hand_over(c)
"""
ICONS = """
import json, sys
from nbgrader.apps.api import NbGraderAPI
from nbgrader.apps.baseapp import NbGrader
app = NbGrader()
app.initialize([])
api = NbGraderAPI(app.coursedir, app.authenticator, parent=app)
print(json.dumps([getattr(api, name)(*arguments) for name, *arguments in json.loads(sys.argv[1])]))
"""
HIDDEN = "negative numbers"
"""In the hidden test of the tiny lab, as its title, and so on a page of ours; what it compares is not."""
SECRET = "add(-1, -1)"


def clicked(course: Path, *icons: tuple[str, ...]) -> list[dict[str, Any]]:
    """Do what formgrader does for each of these icons."""
    done = process("python", "-W", "ignore", "-c", ICONS, json.dumps(icons), cwd=course)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture
def course(tiny: Path, tmp_path: Path) -> Path:
    (tiny / "nbgrader_config.py").write_text(CONFIG.format(exchange=tmp_path / "exchange"))
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    return tiny


@pytest.fixture
def desk(course: Path, tmp_path: Path) -> Path:
    """A student's own directory, with a solved notebook in it."""
    home = tmp_path / "desk"
    path = home / TINY / f"{TINY}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(answered(course, add=ADD.replace("+", "-"), double=DOUBLE, why="So.")))
    shutil.copy(course / "nbgrader_config.py", home)
    return home


def test_formgraders_icons_are_ours_and_the_page_comes_to_its_student(course: Path, desk: Path) -> None:
    hand_in(course, "by_mail", answered(course, add=ADD))
    assert clicked(course, ("release_assignment", TINY))[0]["success"]
    assert process("nbgrader", "submit", TINY, cwd=desk).returncode == 0
    collected, *graded = clicked(course, ("collect", TINY), ("autograde", TINY, "by_mail"), ("autograde", TINY, "root"))
    assert collected["success"]
    assert [done["success"] for done in graded] == [True, True], graded
    assert graded[1]["log"].splitlines() == ["[INFO] root: graded, 3 of 8: 1 written answer to grade by hand"]
    given, released = clicked(course, ("generate_feedback", TINY), ("release_feedback", TINY))
    assert (given["success"], released["success"]) == (True, True), (given, released)
    assert process("nbgrader", "fetch_feedback", TINY, cwd=desk).returncode == 0
    (page,) = desk.glob(f"{TINY}/feedback/*/{TINY}.html")
    text = page.read_text()
    assert text == (course / "feedback/root" / TINY / f"{TINY}.html").read_text()
    assert HIDDEN in text
    assert SECRET not in text
    graded_by_hand = (course / "autograded/root" / TINY / f"{TINY}.ipynb").read_text()
    assert ("Because." in graded_by_hand, "Because." in text) == (True, False), "the model answer is the grader's"
    assert {result.sandbox for result in _results(course)} == {_results(course)[0].sandbox}
    assert [result.tests for result in _results(course)] == ["isolated", "isolated"]


def _results(course: Path) -> list[Any]:
    from autograder.records.log import Log

    return list(Log(open_course(course).state / f"{TINY}.jsonl").latest().values())


def test_what_the_icons_cannot_do_is_said_where_they_were_clicked(course: Path) -> None:
    hand_in(course, "ann", answered(course, add=ADD))
    (course / "submitted/ann" / TINY / f"{TINY}.ipynb").unlink()
    old = course / "feedback/eve" / TINY / f"{TINY}.html"
    old.parent.mkdir(parents=True)
    old.write_text(f"<html>a page of nbgrader's own, from before: {SECRET}")
    graded, written, sent = clicked(
        course, ("autograde", TINY, "bob"), ("generate_feedback", TINY, "ann"), ("release_feedback", TINY)
    )
    assert not graded["success"]
    assert "nothing handed in by bob" in graded["log"]
    assert not written["success"]
    assert "nothing handed in for 01_tiny" in written["log"]
    assert not sent["success"]
    assert f"{old}: not a page of the autograder's, and it may show hidden tests; nothing was sent" in sent["log"]


def test_generate_writes_over_nobodys_work(course: Path) -> None:
    handed_out = course / "release" / TINY / f"{TINY}.ipynb"
    before = handed_out.read_bytes()
    handed_out.unlink()
    assert clicked(course, ("generate_assignment", TINY))[0]["success"]
    assert handed_out.read_bytes() == before
    solved = nbformat.writes(answered(course, add=ADD))
    handed_out.write_text(solved)
    (again,) = clicked(course, ("generate_assignment", TINY))
    assert not again["success"]
    assert "not as it was released, so it was kept" in again["log"]
    done = process("nbgrader", "generate_assignment", TINY, "--force", cwd=course)
    assert done.returncode != 0
    assert handed_out.read_text() == solved


def test_a_solution_for_students_shows_no_hidden_test(course: Path) -> None:
    done = process("nbgrader", "generate_solution", TINY, cwd=course)
    assert done.returncode == 0, done.stderr
    (made,) = (course / "solution").rglob("*.ipynb")
    assert "def add" in made.read_text()
    assert "HIDDEN TESTS" not in made.read_text()
    assert SECRET not in made.read_text()
