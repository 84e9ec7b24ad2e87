"""nbgrader's task cells: what a student adds below one is the answer, and points for it stand as long as that does."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.course import open_course
from autograder.reports.same_answers import same_answers
from tests.system.courses import autograder, grade


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A foreign course with one task that a person grades, and one test."""
    about = {"schema_version": 3, "grade": False, "solution": False, "locked": True, "task": False}
    cells = [
        nbformat.v4.new_code_cell("x = 1\nassert x == 1", id="check"),
        nbformat.v4.new_markdown_cell("Plot it, and say what you see.", id="plot"),
        nbformat.v4.new_markdown_cell("The end.", id="end"),
    ]
    for cell, more in zip(cells, ({"grade": True, "points": 1}, {"task": True, "points": 3}, {}), strict=True):
        cell.metadata["nbgrader"] = {**about, **more, "grade_id": cell.id, "cell_type": cell.cell_type}
    (tmp_path / "source/hw").mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "source/hw/hw.ipynb")
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    assert autograder("release", "--skip-solution", "--course", tmp_path).exit_code == 0
    return tmp_path


def hand_in(root: Path, answer: str, *, elsewhere: str = "", student: str = "ada") -> None:
    notebook = nbformat.read(root / "release/hw/hw.ipynb", as_version=4)
    places = [cell.metadata["nbgrader"]["grade_id"] for cell in notebook.cells]
    notebook.cells.insert(places.index("plot") + 1, nbformat.v4.new_markdown_cell(answer))
    notebook.cells.append(nbformat.v4.new_markdown_cell(elsewhere))
    (root / "submitted" / student / "hw").mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, root / "submitted" / student / "hw/hw.ipynb")


def look_at(root: Path, points: float) -> None:
    with Gradebook(f"sqlite:///{root}/gradebook.db", "c") as book:
        found = book.find_grade("plot", "hw", "hw", "ada")
        found.manual_score, found.needs_manual_grade = points, False
        book.db.commit()


def test_somebody_is_asked_to_look_again_at_a_task_if_what_stands_below_it_has_changed(course: Path) -> None:
    hand_in(course, "A line.")
    grade(course, lab="hw")
    look_at(course, 2.5)
    outcome = grade(course, lab="hw", force=True)["ada"]
    assert not outcome.result.notes
    assert not open_course(course).score("ada", "hw").pending
    hand_in(course, "A line.", elsewhere="A word at the end.")
    outcome = grade(course, lab="hw")["ada"]
    assert not outcome.result.notes
    assert not open_course(course).score("ada", "hw").pending
    hand_in(course, "Another line.")
    outcome = grade(course, lab="hw")["ada"]
    assert outcome.result.notes == ("plot: 2.5 points given by hand before the answer was changed: look at it again",)
    assert open_course(course).score("ada", "hw").again == {"hw/plot"}


@pytest.mark.parametrize("content", [b"", b"{", b"[]"])
def test_nobody_is_asked_to_look_at_a_task_in_a_file_that_holds_nothing(course: Path, content: bytes) -> None:
    hand_in(course, "A line.")
    (course / "submitted/ada/hw/hw.ipynb").write_bytes(content)
    outcome = grade(course, lab="hw")["ada"]
    assert (outcome.result.status, outcome.to_grade) == ("unreadable", 0)
    assert {cell.grade_id: cell.points for cell in outcome.result.cells} == {"check": 0, "plot": 0}
    assert not open_course(course).score("ada", "hw").pending
    assert autograder("verify", "--course", course).exit_code == 0
    look_at(course, 2.5)
    outcome = grade(course, lab="hw", force=True)["ada"]
    assert (outcome.to_grade, outcome.result.notes, outcome.result.score) == (0, (), 2.5), "it was looked at"
    hand_in(course, "A line.")
    assert open_course(course).score("ada", "hw").pending == frozenset()
    assert grade(course, lab="hw")["ada"].to_grade == 1


@pytest.mark.parametrize("content", [b"", b"{"])
def test_a_task_waits_for_a_person_once_there_is_something_to_look_at(course: Path, content: bytes) -> None:
    hand_in(course, "A line.")
    (course / "submitted/ada/hw/hw.ipynb").write_bytes(content)
    grade(course, lab="hw")
    hand_in(course, "A line.")
    assert grade(course, lab="hw")["ada"].to_grade == 1
    assert open_course(course).score("ada", "hw").pending == {"hw/plot"}
    assert autograder("verify", "--course", course).exit_code == 0


def test_answers_below_a_task_are_compared_with_others(course: Path) -> None:
    for student, answer in {"ada": "A line.", "bo": "A line.", "cy": "Another line."}.items():
        hand_in(course, answer, student=student)
    grade(course, lab="hw")
    assert same_answers(open_course(course), "hw", ["hw"], ["ada", "bo", "cy"]) == [["ada", "bo"]]


def test_the_feedback_shows_the_answer_below_a_task(course: Path) -> None:
    hand_in(course, "A line that *rises*.")
    path = course / "submitted/ada/hw/hw.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(-2, nbformat.v4.new_code_cell("plot(rises)"))
    nbformat.write(notebook, path)
    grade(course, lab="hw")
    look_at(course, 2.5)
    assert autograder("feedback", "hw", "--course", course).exit_code == 0
    page = (course / "feedback/ada/hw/hw.html").read_text()
    assert page.count('<pre class="answer">A line that *rises*.</pre>') == 1
    assert page.count("Your code") == 1
    assert page.index("A line that") < page.index("rises</span>") < page.index("<footer>")
    assert '<a href="#task-2">' in page
