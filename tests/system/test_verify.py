"""Real edits of a real gradebook and a real log: each is found, and what formgrader does is none."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from autograder.publish import release_labs
from tests.system.courses import (
    ADD,
    DOUBLE,
    FULL,
    TINY,
    answered,
    autograder,
    copied,
    grade,
    grade_by_hand,
    hand_in,
    process,
)

pytestmark = pytest.mark.slow

_OF_ADA = "assignment_id IN (SELECT id FROM submitted_assignment WHERE student_id = 'ada')"


@pytest.fixture(scope="module")
def graded_template(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = copied(tiny_template, tmp_path_factory.mktemp("graded"))
    hand_in(course, "ada", answered(course, **FULL))
    hand_in(course, "bob", answered(course, add=ADD, double=DOUBLE.replace("2 *", "3 *")))
    hand_in(course, "cy", b"{")
    grade(course)
    return course


@pytest.fixture
def course(graded_template: Path, tmp_path: Path) -> Path:
    return copied(graded_template, tmp_path / "course")


def verify(course: Path, *more: str) -> Result:
    return autograder("verify", *more, "--course", course)


def edit(course: Path, statement: str, *values: Any) -> int:
    """Change the gradebook behind nbgrader's back; return the number of rows."""
    with sqlite3.connect(course / "gradebook.db") as database:
        changed = database.execute(statement, values).rowcount
    database.close()
    return changed


def grade_of(student: str, grade_id: str) -> str:
    """Return what selects the row of one grade."""
    return f"""id IN (SELECT grade.id FROM grade
        JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
        JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
        JOIN base_cell ON grade.cell_id = base_cell.id
        WHERE submitted_assignment.student_id = '{student}' AND base_cell.name = '{grade_id}')"""


def log_of(course: Path) -> Path:
    return course / ".autograder" / f"{TINY}.jsonl"


def test_an_honest_course_agrees(course: Path) -> None:
    result = verify(course)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"{TINY}: log of 3 lines, agrees with the gradebook; head " in result.stderr
    found = json.loads(verify(course, TINY, "--json").stdout)
    assert (found["ok"], found["lines"], found["differences"], found["problems"]) == (True, 3, [], [])
    assert len(found["head"]) == 64


def test_a_score_that_was_edited_is_found(course: Path) -> None:
    where = grade_of("bob", "double-check")
    assert edit(course, f"UPDATE grade SET auto_score = 3 WHERE {where}") == 1
    result = verify(course)
    assert result.exit_code == 1
    assert result.stdout == f"{TINY}: bob: double-check: the log says 0, but there is 3\n"
    assert "error: 1 differences\nhint: " in result.stderr


def test_a_maximum_that_was_edited_is_found_for_everybody(course: Path) -> None:
    assert edit(
        course, "UPDATE grade_cells SET max_score = 20 WHERE id IN (SELECT id FROM base_cell WHERE name = 'add-check')"
    )
    assert verify(course).stdout.splitlines() == [
        f"{TINY}: {student}: add-check: the log says 2 at most, but there is 20 at most"
        for student in ("ada", "bob", "cy")
    ]


def test_a_penalty_that_was_edited_is_found(course: Path) -> None:
    assert edit(course, f"UPDATE submitted_notebook SET late_submission_penalty = 2 WHERE {_OF_ADA}") == 1
    assert verify(course).stdout == f"{TINY}: ada: penalty for being late: the log says 0, but there is 2\n"


def test_a_grade_that_was_deleted_is_found(course: Path) -> None:
    assert edit(course, f"DELETE FROM grade WHERE {grade_of('ada', 'add-check')}") == 1
    assert verify(course).stdout == f"{TINY}: ada: add-check: the log says 2, but there is nothing\n"


def test_a_submission_that_was_deleted_or_given_to_another_is_found(course: Path) -> None:
    edit(course, "INSERT INTO student (id) VALUES ('mallory')")
    assert edit(course, "UPDATE submitted_assignment SET student_id = 'mallory' WHERE student_id = 'ada'") == 1
    assert verify(course).stdout.splitlines() == [
        f"{TINY}: ada: the submission: the log says it was graded, but there is nothing",
        f"{TINY}: mallory: the submission: the log says nothing, but there is one in the gradebook",
    ]


def test_what_formgrader_does_is_listed_as_done_by_hand(course: Path) -> None:
    grade_by_hand(course, "ada", "why", 2.5, comment="Well said.", extra=0.5)
    grade_by_hand(course, "bob", "double-check", 1.0)
    result = verify(course)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{TINY}: by hand: ada: why: 2.5 points by hand, no points yet by the grader",
        f"{TINY}: by hand: ada: why: 0.5 points of extra credit by hand",
        f"{TINY}: by hand: ada: why: a comment by hand",
        f"{TINY}: by hand: bob: double-check: 1 points by hand, 0 by the grader",
    ]


def test_an_executed_notebook_that_was_edited_is_found(course: Path) -> None:
    path = course / "autograded" / "bob" / TINY / f"{TINY}.ipynb"
    path.chmod(0o644)
    path.write_text(path.read_text().replace("3 * a", "2 * a"))
    assert f"{TINY}: bob: autograded/{TINY}.ipynb: the log says hash " in verify(course).stdout


def test_an_edited_line_of_the_log_is_found_and_is_no_grade_any_more(course: Path) -> None:
    log = log_of(course)
    edit(course, f"UPDATE grade SET auto_score = 3 WHERE {grade_of('bob', 'double-check')}")
    lines = log.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if '"student": "bob"' in line)
    assert '"points": 0.0' in lines[at]
    lines[at] = lines[at].replace('"points": 0.0', '"points": 3.0', 1)
    log.write_text("".join(lines))
    result = verify(course)
    assert result.exit_code == 1
    assert f"{TINY}: line {at + 1} (bob): was edited: it is not what its hash says" in result.stdout
    assert autograder("grade", TINY, "--course", course, "--dry-run").stdout.splitlines() == [
        "ada\tunchanged", "bob\twould be graded: new", "cy\tunchanged",
    ]  # fmt: skip


def test_lines_removed_moved_and_cut_off_are_found(course: Path) -> None:
    printed = process("autograder", "grade", TINY, cwd=course)
    (said,) = [line for line in printed.stderr.splitlines() if line.startswith("log head ")]
    head = said.split()[2]
    assert verify(course, TINY, "--head", head).exit_code == 0
    assert verify(course, TINY, "--head", head[:16].upper()).exit_code == 0
    log = log_of(course)
    whole = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(whole[:1] + whole[2:]))
    assert "lines were removed" in verify(course).stdout
    log.write_bytes(b"".join([whole[1], whole[0], whole[2]]))
    assert "lines were moved or inserted" in verify(course).stdout
    log.write_bytes(b"".join(whole[:2]))
    cut = verify(course, TINY, "--head", head)
    assert f"{TINY}: no line has the hash {head}" in cut.stdout
    assert cut.exit_code == 1


def test_a_log_that_is_gone_leaves_grades_that_nobody_can_explain(course: Path) -> None:
    log_of(course).unlink()
    assert len(verify(course).stdout.splitlines()) == 3
    assert "the log says nothing" in verify(course).stdout


def test_grading_again_makes_the_gradebook_agree_again(course: Path) -> None:
    edit(course, f"UPDATE grade SET auto_score = 3 WHERE {grade_of('bob', 'double-check')}")
    assert grade(course, ["bob"], force=True)["bob"].was == 5
    assert verify(course).exit_code == 0


def test_a_test_that_was_changed_and_not_run_yet_is_no_difference_but_other_points_are(course: Path) -> None:
    source = course / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("check.equal(double(3), 6)", "check.equal(double(3), 7)"))
    list(release_labs(course, (TINY,)))
    assert verify(course).exit_code == 0
    grade(course)
    assert verify(course).exit_code == 0
    assert len(log_of(course).read_text().splitlines()) == 6


def test_a_head_belongs_to_one_lab_and_an_unknown_lab_is_an_error(course: Path) -> None:
    usage = verify(course, "--head", "abc")
    assert (usage.exit_code, "name it" in usage.stderr) == (2, True)
    unknown = verify(course, "nope")
    assert (unknown.exit_code, "no such lab" in unknown.stderr) == (1, True)


def test_a_course_in_which_nothing_was_graded_says_so(tiny: Path) -> None:
    result = verify(tiny)
    assert result.exit_code == 1
    assert "nothing has been graded\nhint: autograder grade LAB" in result.stderr
