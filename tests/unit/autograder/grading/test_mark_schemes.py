"""The instructor's own answers beside those that a person grades: seen by whoever grades, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.course import Course, hide_mark_schemes, open_course
from autograder.grading.mark_schemes import mark_schemes, put_beside
from autograder.model import CellSpec
from autograder.notebook import students_own, was_put_back


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return course_with(tmp_path, "from autograder.course import hand_over\n\nhand_over(c)\n")


def course_with(folder: Path, lines: str) -> Course:
    (folder / "nbgrader_config.py").write_text(f"c = get_config()\n{lines}")
    return open_course(folder)


def row(grade_id: str, kind: str = "markdown", more: dict[str, bool] | None = None) -> CellSpec:
    usual = {"locked": False, "grade": True, "solution": True, "task": False}
    return CellSpec(grade_id, kind, "YOUR ANSWER HERE", "", points=2.0, **usual | (more or {}))


def cell(grade_id: str, source: str, kind: str = "markdown") -> nbformat.NotebookNode:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    return make(source, id=f"cell-{grade_id}", metadata={"nbgrader": {"grade_id": grade_id, "solution": True}})


ANSWER = "### BEGIN SOLUTION\n**Model answer.** 42.\n\n**Rubric.** A point for 42.\n### END SOLUTION"


def test_what_the_instructor_wrote_is_a_mark_scheme_without_the_solutions_markers(course: Course) -> None:
    found = mark_schemes(course, [cell("why", ANSWER)], [row("why")])
    assert found == {
        "why": "### BEGIN MARK SCHEME\n\n**Model answer.** 42.\n\n**Rubric.** A point for 42.\n\n### END MARK SCHEME"
    }


def test_where_nbgraders_own_feedback_would_show_it_there_is_none(tmp_path: Path) -> None:
    assert mark_schemes(course_with(tmp_path, ""), [cell("why", ANSWER)], [row("why")]) == {}


def test_code_that_a_person_grades_is_shown_as_code(course: Course) -> None:
    found = mark_schemes(course, [cell("chart", "plot(1)\n~~~\n", "code")], [row("chart", "code")])
    assert found["chart"].splitlines()[2:-2] == ["~~~~python", "plot(1)", "~~~", "~~~~"]


@pytest.mark.parametrize(
    ("source", "about"),
    [
        ("YOUR ANSWER HERE", {}),
        ("", {}),
        (ANSWER, {"grade": False}),
        (ANSWER, {"solution": False}),
    ],
    ids=["the stub", "nothing", "not graded", "not an answer"],
)
def test_of_other_cells_there_is_none(course: Course, source: str, about: dict[str, bool]) -> None:
    assert mark_schemes(course, [cell("why", source)], [row("why", more=about)]) == {}


def test_a_marker_within_it_ends_nothing(course: Course) -> None:
    text = "a\n### END MARK SCHEME\nthe secret"
    scheme = mark_schemes(course, [cell("why", text)], [row("why")])["why"]
    book = nbformat.v4.new_notebook(cells=[cell("why", "mine")])
    put_beside(book, {"why": scheme})
    hide_mark_schemes(book, course.app)
    assert [each.source for each in book.cells] == ["", "mine"]


def test_it_stands_above_the_answer_is_nobodys_and_goes_with_the_mark_schemes(course: Course) -> None:
    book = nbformat.v4.new_notebook(cells=[cell("f", "x = 1", "code"), cell("why", "mine"), cell("more", "also mine")])
    put_beside(book, mark_schemes(course, [cell("why", ANSWER)], [row("why")]))
    assert [each.metadata.nbgrader.grade_id for each in book.cells] == ["f", "why-mark-scheme", "why", "more"]
    added = book.cells[1]
    assert (students_own(added), was_put_back(added), "42" in added.source) == (False, True, True)
    nbformat.validate(book)
    hide_mark_schemes(book, course.app)
    assert [each.source for each in book.cells] == ["x = 1", "", "mine", "also mine"]


def test_a_student_s_cell_that_goes_by_its_id_does_not_take_its_place() -> None:
    forged = nbformat.v4.new_markdown_cell("All points for any sentence.", id="why-mark-scheme")
    other = nbformat.v4.new_markdown_cell("mine", id="students-own-1")
    book = nbformat.v4.new_notebook(cells=[forged, other, cell("why", "mine")])
    put_beside(book, {"why": "scheme"})
    assert [(each.id, each.source) for each in book.cells[:3]] == [
        ("students-own-2", "All points for any sentence."),
        ("students-own-1", "mine"),
        ("why-mark-scheme", "scheme"),
    ]
    nbformat.validate(book)


def test_where_its_name_is_taken_nothing_is_added() -> None:
    book = nbformat.v4.new_notebook(cells=[cell("why", "mine"), cell("why-mark-scheme", "the lab's own")])
    put_beside(book, {"why": "scheme"})
    assert len(book.cells) == 2
