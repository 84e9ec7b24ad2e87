"""Grading again: what has not changed is not run again, what was cut off is, and nothing half-written is believed."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.course import open_course
from autograder.grading.outcome import Outcome
from autograder.model import Status
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
    points,
)

pytestmark = pytest.mark.slow

_KILLED_WHILE_STORING = """
import os
from pathlib import Path
from autograder.course import converters
from autograder.cli import main

def die(self, *_):
    next(Path("autograded").glob("b/*/*.ipynb")).write_text("half")
    os.kill(os.getpid(), 9)

converters._Recorder.set_permissions = die
main(["grade", "01_tiny", "--student", "b", "--force"])
"""


@pytest.fixture(scope="module")
def graded_template(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = copied(tiny_template, tmp_path_factory.mktemp("graded"))
    hand_in(course, "a", answered(course, **FULL))
    hand_in(course, "b", answered(course, add=ADD))
    grade(course)
    return course


@pytest.fixture
def graded(graded_template: Path, tmp_path: Path) -> Path:
    """A course of its own in which a and b were graded."""
    return copied(graded_template, tmp_path / "graded")


def _again(outcomes: dict[str, Outcome]) -> list[str]:
    return sorted(student for student, outcome in outcomes.items() if not outcome.unchanged)


def _executed(course: Path, student: str) -> str:
    """Return something that differs between two runs: the time of a file that grading writes again."""
    return str((course / "autograded" / student / TINY / f"{TINY}.ipynb").stat().st_mtime_ns)


def test_what_has_not_changed_is_not_run_again(graded: Path) -> None:
    before = [_executed(graded, student) for student in "ab"]
    outcomes = grade(graded)
    assert _again(outcomes) == []
    assert [_executed(graded, student) for student in "ab"] == before
    assert (outcomes["a"].result.score, outcomes["a"].to_grade) == (5, 1)


def test_a_changed_submission_is_run_again_and_the_others_are_not(graded: Path) -> None:
    hand_in(graded, "b", answered(graded, add=ADD, double=DOUBLE))
    outcomes = grade(graded)
    assert _again(outcomes) == ["b"]
    assert outcomes["b"].result.score == 5


@pytest.mark.parametrize("name", ["data.csv", "timestamp.txt"])
def test_a_file_beside_the_notebook_counts_as_a_change(graded: Path, name: str) -> None:
    hand_in(graded, "b", b"2030-01-01 00:00:00 UTC", name)
    assert _again(grade(graded)) == ["b"]


def test_a_file_of_the_instructors_counts_as_a_change_for_everybody(graded: Path) -> None:
    (graded / "source" / TINY / "data.csv").write_text("1,2")
    assert _again(grade(graded)) == ["a", "b"]


def _change_a_test(course: Path) -> None:
    source = course / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("check.equal(double(3), 6)", "check.equal(double(3), 7)"))
    list(release_labs(course, (TINY,)))


def test_changed_tests_are_run_on_everybody_and_manual_scores_stay(graded: Path) -> None:
    grade_by_hand(graded, "a", "why", 2.5, comment="Well said.", extra=0.5)
    _change_a_test(graded)
    outcomes = grade(graded)
    assert _again(outcomes) == ["a", "b"]
    assert points(outcomes["a"]) == {"add-check": 2, "double-check": 2, "why": None}
    assert outcomes["a"].result.score == 2 + 2 + 2.5 + 0.5
    assert outcomes["a"].result.status == Status.GRADED, "students are not to blame for a test that was fixed"
    stored = open_course(graded).score("a", TINY)
    assert (stored.grades[f"{TINY}/why"], stored.comments[f"{TINY}/why"]) == (3.0, "Well said.")
    assert stored.pending == frozenset()
    assert stored.to_grade == 0, "its text is what it was"


def test_a_zero_by_hand_is_a_grade_and_not_one_that_waits(graded: Path) -> None:
    assert open_course(graded).score("a", TINY).pending == {f"{TINY}/why"}
    grade_by_hand(graded, "a", "why", 0.0)
    _change_a_test(graded)
    grade(graded)
    assert open_course(graded).score("a", TINY).pending == frozenset()


def test_a_regrade_says_whose_points_changed(graded: Path) -> None:
    grade_by_hand(graded, "a", "why", 2.5)
    _change_a_test(graded)
    result = autograder("grade", TINY, "--course", graded)
    assert result.stdout.splitlines()[1:] == [
        "a         6.5/8  graded  was 7.5; double-check 2/3: three is doubled",
        "b           2/8  graded  double not implemented; why 0/3: no answer",
    ]
    assert "\n1 score changed\n" in result.stderr
    lines = map(json.loads, autograder("grade", TINY, "--course", graded, "--json", "--force").stdout.splitlines())
    assert {line["student"]: line["was"] for line in lines} == {"a": None, "b": None}
    source = graded / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("check.equal(double(3), 7)", "check.equal(double(3), 6)"))
    list(release_labs(graded, (TINY,)))
    lines = map(json.loads, autograder("grade", TINY, "--course", graded, "--json").stdout.splitlines())
    assert {line["student"]: (line["was"], line["score"]) for line in lines} == {"a": (6.5, 7.5), "b": (None, 2)}


def test_force_runs_everything_again(graded: Path) -> None:
    before = _executed(graded, "a")
    assert _again(grade(graded, force=True)) == ["a", "b"]
    assert _executed(graded, "a") != before


def test_one_student_is_graded_and_the_others_are_left_alone(graded: Path) -> None:
    before = _executed(graded, "b")
    assert list(grade(graded, ["a"], force=True)) == ["a"]
    assert _executed(graded, "b") == before


def test_dry_run_says_what_would_be_done_and_does_nothing(graded: Path) -> None:
    hand_in(graded, "b", answered(graded, add=ADD, double=DOUBLE))
    hand_in(graded, "c", answered(graded, **FULL))
    hand_in(graded, "d", b"nothing", "notes.txt")
    before = {path: path.stat().st_mtime_ns for path in graded.rglob("*")}
    result = autograder("grade", TINY, "--course", graded, "--dry-run")
    assert result.exit_code == 0
    assert [line.split("\t")[:2] for line in result.stdout.splitlines()] == [
        ["a", "unchanged"],
        ["b", "would be graded: handed in anew since"],
        ["c", "would be graded: never graded"],
        ["d", "nothing handed in"],
    ]
    assert {path: path.stat().st_mtime_ns for path in graded.rglob("*")} == before


def test_two_workers_and_one_give_the_same_results(graded: Path) -> None:
    hand_in(graded, "c", b"{}")
    hand_in(graded, "d", answered(graded, add="import os; os._exit(1)"))

    def results(workers: int) -> dict[str, object]:
        found = {s: o.result.to_dict() for s, o in grade(graded, workers=workers, force=True).items()}
        return {s: {**r, "seconds": 0, "graded_at": "", "notebooks": {}} for s, r in found.items()}

    assert results(1) == results(2)


# ---------------------------------------------------------------------------------------------------- cut off half-way
def test_half_a_line_in_the_log_counts_as_not_there(graded: Path) -> None:
    log = graded / ".autograder" / f"{TINY}.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole[:-100])
    cut = json.loads(whole.splitlines()[-1])["student"]
    assert _again(grade(graded)) == [cut]
    lines = log.read_text().splitlines()
    assert json.loads(lines[-1])["student"] == cut
    assert _again(grade(graded)) == []


def test_a_run_killed_while_it_stored_is_not_taken_for_whole(graded: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED_WHILE_STORING], cwd=graded, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    half = graded / "autograded/b" / TINY / f"{TINY}.ipynb"
    assert half.read_text() == "half"
    assert [p.name for p in (graded / ".autograder" / f"{TINY}.staging").iterdir()] == ["b"]
    assert (
        "the last run was stopped while it was stored"
        in autograder("grade", TINY, "--course", graded, "--dry-run").stdout
    )
    assert _again(grade(graded)) == ["b"]
    nbformat.read(half, as_version=4)
    assert not list((graded / ".autograder").glob("*.staging"))
    assert _again(grade(graded)) == []


def test_a_lost_autograded_notebook_is_made_again(graded: Path) -> None:
    shutil.rmtree(graded / "autograded" / "a")
    assert _again(grade(graded)) == ["a"]


def test_a_lost_gradebook_is_filled_again(graded: Path) -> None:
    (graded / "gradebook.db").unlink()
    list(release_labs(graded, (TINY,)))
    assert _again(grade(graded)) == ["a", "b"]
    assert [stored.score for stored in open_course(graded).scores()] == [5, 2]


def test_a_submission_taken_back_keeps_its_grade_and_says_so(graded: Path) -> None:
    shutil.rmtree(graded / "submitted" / "a")
    result = grade(graded)["a"].result
    assert result.status == Status.MISSING
    assert result.messages == ("no 01_tiny.ipynb any more; the gradebook keeps 5 of 8 from before",)
    assert {s.student: s.score for s in open_course(graded).scores()} == {"a": 5, "b": 2}
    line = json.loads(autograder("grade", TINY, "--course", graded, "--json").stdout.splitlines()[0])
    assert (line["status"], line["score"], line["to_grade"]) == ("missing", 5, 1)
    page = autograder("feedback", TINY, "--course", graded, "--student", "a")
    assert (page.exit_code, page.stdout.count("/a/")) == (0, 1), page.stderr
    assert ",a,,,,5,0,5,8" in autograder("export", "--course", graded, "--to", "-").stdout
    assert autograder("verify", "--course", graded).exit_code == 0


def test_two_runs_at_once_do_not_get_in_each_others_way(graded: Path) -> None:
    holder = subprocess.Popen(["flock", str(graded / ".autograder/lock"), "sh", "-c", "echo held; read x"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        result = autograder("grade", TINY, "--course", graded)
    finally:
        holder.communicate()
    assert result.exit_code == 1
    assert "another autograder is grading in this course\nhint: wait for it, or stop it" in result.stderr
    assert _again(grade(graded)) == []


# ------------------------------------------------------------------------------------------------------- late penalties
def _due(course: Path, day: int) -> None:
    with sqlite3.connect(course / "gradebook.db") as database:
        database.execute("UPDATE assignment SET duedate = ?", (f"2030-01-0{day} 00:00:00.000000",))
    database.close()


def _policy(course: Path, method: str) -> None:
    config = course / "nbgrader_config.py"
    config.write_text(f'{config.read_text()}c.LateSubmissionPlugin.penalty_method = "{method}"\n')


@pytest.fixture
def timed(graded: Path) -> Path:
    """A course in which a and b have handed in on the second, the work is due on the third, and late work earns 0."""
    for student in "ab":
        hand_in(graded, student, b"2030-01-02 00:00:00 UTC", "timestamp.txt")
    _due(graded, 3)
    _policy(graded, "zero")
    assert {student: o.result.score for student, o in grade(graded).items()} == {"a": 5, "b": 2}
    return graded


@pytest.mark.parametrize("change", ["due date", "policy"])
def test_a_penalty_for_being_late_is_applied_anew_without_a_run(timed: Path, change: str) -> None:
    if change == "policy":
        _policy(timed, "none")
        _due(timed, 1)
        assert {o.was for o in grade(timed).values()} == {None}
        _policy(timed, "zero")
    else:
        _due(timed, 1)
    before = _executed(timed, "a")
    planned = autograder("grade", TINY, "--course", timed, "--dry-run").stdout.splitlines()
    assert planned[0] == "a\tunchanged, not run again; the penalty for being late would be applied again"
    result = autograder("grade", TINY, "--course", timed)
    assert result.stdout.splitlines()[1].startswith("a           0/8  graded  was 5")
    assert "2 unchanged, not run again\n2 scores changed\n" in result.stderr
    assert _executed(timed, "a") == before
    verified = autograder("verify", "--course", timed)
    assert (verified.exit_code, verified.stdout) == (0, "")
    assert {o.was for o in grade(timed).values()} == {None}, "once is enough"
    _due(timed, 3)
    assert {s: (o.was, o.result.score) for s, o in grade(timed).items()} == {"a": (0, 5), "b": (0, 2)}


def test_a_time_of_handing_in_that_was_edited_is_not_taken_over(timed: Path) -> None:
    with sqlite3.connect(timed / "gradebook.db") as database:
        database.execute("UPDATE submitted_assignment SET timestamp = '2030-01-04 00:00:00.000000'")
    database.close()
    assert {o.was for o in grade(timed).values()} == {None}
    assert autograder("verify", "--course", timed).exit_code == 1


def test_the_penalty_of_the_docs_takes_off_a_tenth_for_each_day_begun_after_the_extension(timed: Path) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "instructors.md").read_text()
    section = docs.split("### Late penalties and extensions")[1].split("\n## ")[0]
    plugin, line = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[:2]
    (timed / "late.py").write_text(plugin)
    config = timed / "nbgrader_config.py"
    config.write_text(config.read_text() + line)
    _due(timed, 1)
    before = {student: o.result.score for student, o in grade(timed).items()}
    assert before == {"a": pytest.approx(4), "b": pytest.approx(1.6)}, "a day late: the second one has begun"
    with Gradebook(f"sqlite:///{timed}/gradebook.db", "tiny") as book:
        book.grant_extension(TINY, "a", hours=12)
    after = {student: o.result.score for student, o in grade(timed).items()}
    assert after == {"a": pytest.approx(4.5), "b": pytest.approx(1.6)}
    assert autograder("verify", "--course", timed).exit_code == 0


@pytest.fixture
def half(timed: Path) -> Path:
    """The same course after the due date, where late work loses half, and one written answer was graded since."""
    (timed / "halves.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Halves(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        return score / 2\n"
    )
    config = timed / "nbgrader_config.py"
    config.write_text(f'{config.read_text()}c.AssignLatePenalties.plugin_class = "halves.Halves"\n')
    _due(timed, 1)
    assert {student: o.result.score for student, o in grade(timed).items()} == {"a": 2.5, "b": 1}
    grade_by_hand(timed, "a", "why", 3.0)
    return timed


def test_a_time_whose_file_is_gone_costs_nothing_any_more(half: Path) -> None:
    grade(half)
    (half / "submitted/a" / TINY / "timestamp.txt").unlink()
    assert {student: o.result.score for student, o in grade(half).items()} == {"a": 8, "b": 1}
    assert [stored.handed_in != "" for stored in open_course(half).scores()] == [False, True]
    assert autograder("verify", "--course", half).exit_code == 0


def test_a_time_that_somebody_has_set_in_the_gradebook_stays_where_there_is_no_file(half: Path) -> None:
    grade(half)
    (half / "submitted/a" / TINY / "timestamp.txt").unlink()
    with sqlite3.connect(half / "gradebook.db") as database:
        database.execute("UPDATE submitted_assignment SET timestamp = '2030-01-05 00:00:00.000000'")
    database.close()
    assert grade(half)["a"].result.score == 4
    assert open_course(half).score("a", TINY).handed_in.startswith("2030-01-05")


_AGAIN = f"{TINY}: the penalty for being late was applied again: a (2.5, now 4)\n"


def test_points_by_hand_change_a_penalty_and_verify_says_so(half: Path) -> None:
    verified = autograder("verify", "--course", half)
    said = "a: penalty for being late: the log says 2.5, but there is 4 to be taken off by today's points and policy"
    assert (verified.exit_code, verified.stdout.splitlines()[0]) == (1, f"{TINY}: {said}")
    assert "hint: autograder grade LAB applies penalties" in verified.stderr
    assert {s: (o.was, o.result.score) for s, o in grade(half).items()} == {"a": (5.5, 4), "b": (None, 1)}
    assert autograder("verify", "--course", half).exit_code == 0


@pytest.mark.parametrize("command", [("export", "--to", "-"), ("feedback", TINY), ("report", TINY)])
def test_whoever_reads_grades_applies_penalties_first(half: Path, command: tuple[str, ...]) -> None:
    before = _executed(half, "a")
    read = autograder(*command, "--course", half)
    assert (read.exit_code, _AGAIN in read.stderr) == (0, True), read.stderr
    assert [stored.score for stored in open_course(half).scores()] == [4, 1]
    assert autograder("verify", "--course", half).exit_code == 0
    assert _AGAIN not in autograder(*command[:2], *command[2:], "--course", half).stderr
    assert {o.was for o in grade(half).values()} == {None}
    assert _executed(half, "a") == before


def test_a_penalty_that_cannot_be_applied_is_said_with_the_command(half: Path) -> None:
    with sqlite3.connect(half / "gradebook.db") as database:
        database.execute("UPDATE submitted_assignment SET timestamp = '2030-01-04 00:00:00.000000'")
    database.close()
    read = autograder("export", "--to", "-", "--course", half)
    assert read.exit_code == 0
    assert f"grades are out of date, the penalty for being late is another one today: a; autograder grade {TINY}" in (
        read.stderr
    )


def test_what_waits_for_a_person_and_what_is_too_much_is_said(graded: Path) -> None:
    read = autograder("export", "--to", "-", "--course", graded)
    assert f"{TINY}: written answers of 1 student are still to be graded by hand: a\n" in read.stderr
    grade_by_hand(graded, "a", "why", 3.0, extra=1.0)
    read = autograder("export", "--to", "-", "--course", graded)
    assert read.stderr == f"{TINY}: more than 100 %: a (9 of 8)\n2 rows\n"
    hand_in(graded, "a", answered(graded, **FULL | {"why": "On second thought, it is not."}))
    grade(graded)
    read = autograder("export", "--to", "-", "--course", graded)
    before = f"{TINY}: points by hand of 1 student are from before the answer, its test or its maximum was changed: a\n"
    assert before in read.stderr
    pages = autograder("feedback", TINY, "--course", graded)
    assert f"note: {before}" in pages.stderr
    page = (graded / "feedback" / "a" / TINY / f"{TINY}.html").read_text()
    assert (
        "A person gave these points before the answer, its test or its maximum was changed, and will look again."
        in page
    )


def test_an_extension_is_granted_with_the_lines_of_the_documentation(half: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "instructors.md").read_text()
    section = text.partition("### Late penalties and extensions\n")[2]
    lines = re.search(r"```python\n(from nbgrader.api import Gradebook\n.*?)```", section, re.S)
    assert lines is not None
    program = lines[1].replace("01_numpy_mlp", TINY).replace('"ann"', '"a"')
    subprocess.run([sys.executable, "-c", program], cwd=half, check=True)
    verified = autograder("verify", "--course", half)
    assert f"{TINY}: a: extension: the log says 0 hours, but there is 48 hours\n" in verified.stdout
    assert "hint: autograder grade LAB applies penalties" in verified.stderr
    assert {s: (o.was, o.result.score) for s, o in grade(half).items()} == {"a": (5.5, 8), "b": (None, 1)}
