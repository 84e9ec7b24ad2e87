"""Real edits of a real gradebook and a real log: each is found, and what formgrader does is none."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from autograder.course import open_course
from autograder.release.publish import release_labs
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


def select(course: Path, statement: str) -> list[Any]:
    """Return the first column of what a query finds."""
    with sqlite3.connect(course / "gradebook.db") as database:
        found = [row[0] for row in database.execute(statement)]
    database.close()
    return found


_WEAK = """from labkit import check

with check.case("any"):
    check.equal(1, 1)
check.score(3)"""


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
    assert "error: 1 difference\nhint: " in result.stderr


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
        f"{TINY}: by hand: ada: why: 2.5 points by hand",
        f"{TINY}: by hand: ada: why: 0.5 points of extra credit by hand",
        f"{TINY}: by hand: ada: why: a comment by hand",
        f"{TINY}: by hand: bob: double-check: 1 point by hand, 0 by the grader",
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
        "ada\tunchanged",
        "bob\twould be graded: the autograder's log has no line of it that is whole: `autograder verify` says which are"
        " damaged",
        "cy\tunchanged",
    ]


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


def test_a_test_that_was_changed_is_found_until_everybody_is_graded_with_it(course: Path) -> None:
    source = course / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("check.equal(double(3), 6)", "check.equal(double(3), 7)"))
    list(release_labs(course, (TINY,)))
    (line,) = verify(course).stdout.splitlines()
    assert line.startswith(f"{TINY}: ada, bob, cy: double-check: the log says it was graded with the cell ")
    grade(course)
    assert verify(course).exit_code == 0
    assert len(log_of(course).read_text().splitlines()) == 6


def test_a_test_that_was_weakened_while_somebody_was_graded_is_found(course: Path) -> None:
    where = "name = 'double-check'"
    (strong,) = select(course, f"SELECT source FROM source_cell WHERE {where}")
    assert edit(course, f"UPDATE source_cell SET source = ? WHERE {where}", _WEAK) == 1
    assert grade(course, ["bob"])["bob"].result.score == 5
    assert edit(course, f"UPDATE source_cell SET source = ? WHERE {where}", strong) == 1
    result = verify(course)
    assert result.exit_code == 1
    (line,) = result.stdout.splitlines()
    assert line.startswith(f"{TINY}: bob: double-check: the log says it was graded with the cell ")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE submitted_assignment SET timestamp = '2020-01-01 00:00:00.000000' WHERE student_id = 'ada'",
            "ada: handed in: the log says at no known time, but there is 2020-01-01 00:00:00",
        ),
        (
            "UPDATE submitted_assignment SET extension = '1970-01-02 00:00:00.000000' WHERE student_id = 'ada'",
            "ada: extension: the log says 0 hours, but there is 24 hours",
        ),
        (
            "UPDATE assignment SET duedate = '2020-01-01 00:00:00.000000'",
            "ada, bob, cy: due: the log says at no known time, but there is 2020-01-01 00:00:00",
        ),
    ],
)
def test_what_decides_a_penalty_cannot_be_edited_unseen(course: Path, statement: str, said: str) -> None:
    assert edit(course, statement) == 1
    assert verify(course).stdout == f"{TINY}: {said}\n"


def test_a_student_whose_id_was_changed_is_a_finding(course: Path) -> None:
    assert edit(course, "UPDATE student SET id = 'mallory' WHERE id = 'ada'") == 1
    result = verify(course)
    assert result.exit_code == 1
    assert result.stdout == (
        f"{TINY}: ada: the student: the log says there was one, but there is nobody of this id any more\n"
    )
    assert autograder("export", "--to", "-", "--course", course).stdout.count("ada") == 1


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM source_cell", "add-check: the log says it was graded with the cell "),
        (
            "UPDATE notebook SET kernelspec = 'x'",
            "the lab: the log says they were graded, but there is 01_tiny: the grade",
        ),
        (
            "UPDATE notebook SET kernelspec = '[1]'",
            "the gradebook's kernelspec is none: '[1]'; somebody has changed it",
        ),
        (
            "UPDATE grade_cells SET cell_type = 'markdown'",
            "ada, bob, cy: add-check: the log says a code cell, but there",
        ),
        (
            f"UPDATE grade SET needs_manual_grade = 0 WHERE {grade_of('ada', 'why')}",
            "ada: why: the log says a grade for a person to give, but there is a grade that no person has to give",
        ),
        (
            f"UPDATE grade SET needs_manual_grade = 1 WHERE {grade_of('ada', 'add-check')}",
            "ada: add-check: the log says a grade that no person has to give, but there is a grade for a person",
        ),
        ("DELETE FROM base_cell WHERE name = 'add-check'", "ada: add-check: the log says 2, but there is nothing"),
        ("UPDATE base_cell SET name = 'other' WHERE name = 'add-check'", "ada: add-check: the log says 2, but there"),
        ("UPDATE notebook SET name = 'other'", "ada: add-check: the log says nothing, but there is 2"),
        ("DELETE FROM notebook", "the log says nothing, but there is 2"),
        ("DELETE FROM assignment", "ada: the submission: the log says it was graded, but there is nothing"),
        (f"UPDATE grade SET auto_score = 'much' WHERE {grade_of('ada', 'add-check')}", "but there is nan"),
        ("UPDATE grade_cells SET max_score = 'much'", "the log says 2 at most, but there is nan at most"),
    ],
)
def test_rows_that_were_renamed_deleted_or_filled_with_nonsense_are_findings(
    course: Path, statement: str, said: str
) -> None:
    assert edit(course, statement) >= 1
    result = verify(course)
    assert result.exit_code == 1
    assert said in result.stdout, result.output


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("CREATE TRIGGER more AFTER UPDATE ON grade BEGIN UPDATE grade SET extra_credit = 1; END", "a trigger 'more'"),
        ("CREATE VIEW grades AS SELECT * FROM grade", "a view 'grades'"),
    ],
)
def test_a_program_in_the_gradebook_is_found(course: Path, statement: str, what: str) -> None:
    edit(course, statement)
    result = verify(course)
    assert result.exit_code == 1
    assert result.stdout == f"{TINY}: the gradebook holds {what}, which nbgrader does not make\n"


_INDEX = "CREATE INDEX ix_grade_score ON grade (manual_score, auto_score, extra_credit, notebook_id)"


def in_master(course: Path, statement: str, *values: Any) -> None:
    """Change what SQLite itself knows of the gradebook, which opens it anew after that."""
    database = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    database.execute("PRAGMA writable_schema = 1")
    database.execute(statement, values)
    (version,) = database.execute("PRAGMA schema_version").fetchone()
    database.execute(f"PRAGMA schema_version = {version + 1}")
    database.close()


def stale(course: Path, index: str) -> None:
    """Give everybody one point, make an index of that, and put the true points back behind its back."""
    with sqlite3.connect(course / "gradebook.db") as database:
        points = database.execute("SELECT auto_score, id FROM grade").fetchall()
        database.execute("UPDATE grade SET auto_score = 1")
        database.execute(index)
        row = database.execute("SELECT * FROM sqlite_master WHERE sql = ?", (index,)).fetchone()
    database.close()
    in_master(course, "DELETE FROM sqlite_master WHERE sql = ?", index)
    for auto_score, own in points:
        edit(course, "UPDATE grade SET auto_score = ? WHERE id = ?", auto_score, own)
    in_master(course, "INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", *row)


def test_an_index_that_answers_sums_with_other_points_than_the_rows_is_found(course: Path) -> None:
    before = select(course, "SELECT auto_score FROM grade ORDER BY id")
    stale(course, _INDEX)
    assert select(course, "SELECT auto_score FROM grade NOT INDEXED ORDER BY id") == before
    result = verify(course)
    assert result.exit_code == 1
    problems = result.stdout.splitlines()
    assert problems[0].startswith(f"{TINY}: the gradebook fails SQLite's own integrity check: ")
    assert problems[1] == f"{TINY}: the gradebook holds an index 'ix_grade_score', which nbgrader does not make"
    assert f"{TINY}: the gradebook gives ada 3 in all, but its rows add up to 5" in problems


def test_an_index_that_agrees_with_its_table_is_none_of_nbgrader_s_either(course: Path) -> None:
    edit(course, _INDEX)
    said = f"{TINY}: the gradebook holds an index 'ix_grade_score', which nbgrader does not make\n"
    assert verify(course).stdout == said


def test_what_keeps_a_gradebook_small_and_fast_is_no_finding(course: Path) -> None:
    edit(course, "ANALYZE")
    edit(course, "VACUUM")
    assert verify(course).exit_code == 0


def test_a_kind_of_cell_that_is_none_is_an_error_with_a_hint(course: Path) -> None:
    assert edit(course, "UPDATE grade_cells SET cell_type = 'x'") >= 1
    result = verify(course)
    assert result.exit_code == 1
    assert "cannot be read: " in result.stdout + result.stderr
    assert "changed it by hand" in result.stdout + result.stderr


def test_a_time_that_is_none_is_an_error_with_a_hint(course: Path) -> None:
    assert edit(course, "UPDATE submitted_assignment SET timestamp = 'soon' WHERE student_id = 'ada'") == 1
    result = verify(course)
    assert result.exit_code == 1
    assert f"what it holds of {TINY} cannot be read: " in result.stderr
    assert "hint: somebody has changed it by hand" in result.stderr


def test_a_head_belongs_to_one_lab_and_an_unknown_lab_is_an_error(course: Path) -> None:
    usage = verify(course, "--head", "abc")
    assert (usage.exit_code, "name it" in usage.stderr) == (2, True)
    unknown = verify(course, "nope")
    assert (unknown.exit_code, "no such lab" in unknown.stderr) == (1, True)


def test_a_course_in_which_nothing_was_graded_says_so(tiny: Path) -> None:
    result = verify(tiny)
    assert result.exit_code == 1
    assert "nothing has been graded\nhint: autograder grade LAB" in result.stderr
    assert verify(tiny, TINY).exit_code == 1, "a lab that is named is no other one"


def test_where_grading_was_interrupted_before_anything_was_recorded_verify_says_what_waits(tiny: Path) -> None:
    hand_in(tiny, "ada", answered(tiny, **FULL))
    said = f"{TINY}: nothing has been graded yet; 1 submission waits\n"
    for labs in ((), (TINY,)):
        result = verify(tiny, *labs)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"{said}error: nothing to verify\nhint: autograder grade {TINY}\n"
    (tiny / ".autograder" / f"{TINY}.staging" / "ada" / TINY).mkdir(parents=True)
    hand_in(tiny, "bob", answered(tiny, **FULL))
    result = verify(tiny)
    assert (result.exit_code, result.stdout.startswith(f"{TINY}: ada: the last grading: ")) == (1, True)
    said = (
        f"{TINY}: nothing has been graded yet; 2 submissions wait\nerror: 1 difference\nhint: autograder grade {TINY}\n"
    )
    assert result.stderr == said


# --------------------------------------------------------------------------- a student leaves, is renamed, has two ids
DOCS = Path(__file__).parents[2] / "docs" / "instructors.md"
GONE = f"{TINY}: bob: the submission: the log says it was graded, but there is nothing\n"


def exclude(course: Path, *students: str) -> None:
    config = course / "nbgrader_config.py"
    config.write_text(f'{config.read_text()}c.CourseDirectory.student_id_exclude = "{",".join(students)}"\n')


def remove(course: Path, student: str) -> None:
    assert process("nbgrader", "db", "student", "remove", student, "--force", cwd=course).returncode == 0


def test_a_student_who_was_removed_is_a_difference_until_the_configuration_says_so(course: Path) -> None:
    remove(course, "bob")
    result = verify(course)
    assert (result.exit_code, result.stdout) == (1, GONE)
    assert "hint: bob not in the gradebook any more: who has left belongs into c.CourseDirectory.st" in result.stderr
    assert "--force" not in result.stderr, "that would bring bob back"
    exclude(course, "bob")
    result = verify(course)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"{TINY}: bob: 2 of 8 in the log, and removed from the gradebook: in student_id_exclude\n" in result.stderr


def test_of_a_removed_student_there_is_no_page_and_none_is_missing(course: Path) -> None:
    remove(course, "bob")
    asked = autograder("feedback", TINY, "--course", course, "--student", "bob")
    assert (asked.exit_code, "bob: graded before, and not in the gradebook any more" in asked.stderr) == (1, True)
    exclude(course, "bob")
    pages = autograder("feedback", TINY, "--course", course)
    assert (pages.exit_code, "bob" in pages.output) == (0, False), pages.output
    found = json.loads(autograder("report", TINY, "--course", course, "--json").stdout)
    assert found["students"] == len(open_course(course).scores(TINY)), found


def test_an_excluded_student_who_is_in_the_gradebook_is_exported_to_each_system(course: Path, tmp_path: Path) -> None:
    exclude(course, "bob")
    roster = tmp_path / "canvas.csv"
    header = f"Student,ID,SIS User ID,SIS Login ID,Section,{TINY} (7)"
    roster.write_text(f"{header}\nPoints Possible,,,,,8\nB,2,bob,bob,1,\n")
    done = autograder("export", "--course", course, "--format", "canvas", "--roster", roster, "--to", "-")
    assert ("B,2,bob" in done.stdout, "bob: left out" in done.stderr) == (True, False), done.output


def test_a_submission_that_was_deleted_is_a_difference_whoever_is_excluded(course: Path) -> None:
    exclude(course, "bob")
    assert verify(course).exit_code == 0
    assert edit(course, "DELETE FROM submitted_assignment WHERE student_id = 'bob'") == 1
    result = verify(course)
    assert (result.exit_code, GONE in result.stdout) == (1, True), "bob is still a student"


def test_a_removed_student_comes_back_with_a_word_and_an_excluded_one_not_at_all(course: Path, tmp_path: Path) -> None:
    remove(course, "bob")
    said = "graded before, and not in the gradebook any more: bob; "
    for more in (["--dry-run"], []):
        done = autograder("grade", TINY, "--course", course, *more)
        assert f"note: {said}taken in again" in done.stderr
    assert said not in autograder("grade", TINY, "--course", course).stderr
    remove(course, "bob")
    archive = tmp_path / "in" / "bob"
    archive.mkdir(parents=True)
    (archive / "x.ipynb").write_bytes((course / "submitted" / "bob" / TINY / f"{TINY}.ipynb").read_bytes())
    collect = ("collect", TINY, archive.parent, "--from", "folders", "--force", "--course", course)
    assert (
        f"{said}grade takes them in again; who has left belongs into c.CourseDirectory" in autograder(*collect).stderr
    )
    exclude(course, "bob")
    done = autograder(*collect)
    assert (done.exit_code, said in done.stderr) == (0, False)
    assert done.stdout.splitlines()[1:] == [
        "bob      x.ipynb  left out: student_id_exclude in nbgrader_config.py names this student"
    ]
    assert "bob" not in autograder("grade", TINY, "--course", course).stdout
    for asked in (("collect", TINY, archive.parent), ("grade", TINY), ("feedback", TINY), ("report", TINY)):
        done = autograder(*asked, "--student", "bob", "--course", course)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(
            "error: bob: left out by c.CourseDirectory.student_id_exclude in nbgrader_config.py"
        )
    assert verify(course).exit_code == 0


def test_a_student_gets_another_id_by_the_steps_of_the_docs_and_keeps_points_by_hand(course: Path) -> None:
    grade_by_hand(course, "bob", "why", 2.5, comment="Well said.", extra=0.5)
    section = DOCS.read_text().split("### A student leaves")[1].split("\n### ")[0]
    (script,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    done = process("python", "-c", script, cwd=course)
    assert done.returncode == 0, done.stderr
    for folder in ("submitted", "autograded"):
        (course / folder / "bob").rename(course / folder / "robin")
    assert verify(course).exit_code == 1
    exclude(course, "bob")
    assert autograder("grade", TINY, "--student", "robin", "--course", course).exit_code == 0
    result = verify(course)
    assert result.exit_code == 0, result.stdout
    by_hand = [line for line in result.stdout.splitlines() if "robin" in line]
    assert by_hand[0] == f"{TINY}: by hand: robin: why: 2.5 points by hand, 0 by the grader"
    assert select(course, "SELECT id FROM student") == ["ada", "cy", "robin"]


def test_two_ids_of_one_student_become_one_by_the_steps_of_the_docs(course: Path) -> None:
    (course / "submitted" / "ada" / TINY).rename(course / "aside")
    (course / "submitted" / "bob" / TINY).rename(course / "submitted" / "ada" / TINY)
    remove(course, "bob")
    exclude(course, "bob")
    assert autograder("grade", TINY, "--student", "ada", "--course", course).exit_code == 0
    assert verify(course).exit_code == 0
    assert select(course, "SELECT id FROM student") == ["ada", "cy"]


def test_what_is_left_of_the_other_id_goes_by_the_commands_of_the_docs(course: Path) -> None:
    section = DOCS.read_text().split("*Has two ids*")[1].split("\n### ")[0]
    blocks = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    config = course / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}c.CourseDirectory.student_id_exclude = 'bob'\n")
    assert autograder("feedback", TINY, "--student", "bob", "--course", course).exit_code == 0
    for line in lines:
        command = line.replace("4711", "bob").replace("01_numpy_mlp", TINY)
        done = process("/bin/sh", "-ec", command, cwd=course)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    assert "verify" in lines[-1], "which has ended with 0"
    assert not [path for path in course.glob("*/bob") if path.exists()]
    assert select(course, "SELECT id FROM student") == ["ada", "cy"]


def test_a_gradebook_that_is_gone_after_grading_is_missed(course: Path) -> None:
    (course / "gradebook.db").unlink()
    for command in (("verify",), ("grade", TINY), ("report", TINY)):
        said = autograder(*command, "--course", course)
        assert said.exit_code, command
        assert f"gradebook.db: the gradebook is gone; {TINY} had been graded\nhint: put a backup there" in said.output
    assert not (course / "gradebook.db").exists()
