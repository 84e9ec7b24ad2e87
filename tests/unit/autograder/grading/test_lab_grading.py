"""The grading of a class: in which order, what is stored when, what is not run again. Nothing is executed here."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import nbformat
import pytest
from nbgrader.api import Gradebook
from sqlalchemy import event
from sqlalchemy.engine import Engine

from autograder.course import Course, open_course
from autograder.errors import CourseError, SandboxError
from autograder.execution import Execution, Executor
from autograder.execution.results import Report
from autograder.grading import lab_grading
from autograder.grading.lab_grading import Grading
from autograder.grading.staging import Staging
from autograder.grading.workers import Threads
from autograder.markers import EXPLORE
from autograder.model import Status
from autograder.records.log import Basis
from autograder.records.verify import verify_lab
from autograder.release.publish import release_labs
from autograder.submission.handin import Handin, read_handin
from tests.system.courses import ADD, FULL, TINY, answered, grade_by_hand, hand_in
from tests.unit.autograder.grading.fake_executor import FakeExecutor, graded, submit

CHANGE = "change its permissions, or its folder's, then grade again"


def test_everybody_is_graded_and_stored_and_only_once(tiny: Path) -> None:
    for student in ("ada", "bob", "cy"):
        submit(tiny, student)
    executor = FakeExecutor()
    first = graded(tiny, executor, workers=2)
    assert {student: (o.result.status, o.result.score, o.unchanged) for student, o in first.items()} == dict.fromkeys(
        ("ada", "bob", "cy"), (Status.GRADED, 5.0, False)
    )
    assert sorted(executor.ran) == ["from_ada", "from_bob", "from_cy"]
    again = graded(tiny, executor)
    assert all(outcome.unchanged for outcome in again.values())
    assert len(executor.ran) == 3
    assert verify_lab(open_course(tiny), TINY).agrees


def test_no_trouble_with_one_student_s_files_stops_the_others(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for student in ("ada", "bob"):
        submit(tiny, student)

    def fails(course: Course, lab: str, names: Collection[str], student: str) -> Handin:
        if student == "ada":
            raise RecursionError("maximum recursion depth exceeded")
        return read_handin(course, lab, names, student)

    monkeypatch.setattr(lab_grading, "read_handin", fails)
    outcomes = graded(tiny, FakeExecutor())
    assert {student: o.result.status for student, o in outcomes.items()} == {"ada": Status.FAILED, "bob": Status.GRADED}
    assert outcomes["ada"].result.messages[0].startswith("RecursionError: maximum recursion depth exceeded (")
    plan = dict(Grading(open_course(tiny), TINY, cast(Executor, FakeExecutor())).plan(["ada", "bob"]))
    assert plan["ada"].startswith("would fail: RecursionError")
    assert plan["bob"] == "unchanged"


def test_only_who_is_asked_for_and_what_has_changed_runs_again(tiny: Path) -> None:
    for student in ("ada", "bob"):
        submit(tiny, student)
    executor = FakeExecutor()
    graded(tiny, executor)
    submit(tiny, "bob", "better")
    assert {s: o.unchanged for s, o in graded(tiny, executor).items()} == {"ada": True, "bob": False}
    graded(tiny, executor, "ada", force=True)
    assert executor.ran == ["from_ada", "from_bob", "from_bob", "from_ada"]


def test_a_dry_run_tells_what_nbgrader_itself_had_graded_from_a_damaged_log(tiny: Path) -> None:
    """Of both it said that the log has no whole line of it."""
    hand_in(tiny, "ada", answered(tiny, **FULL))
    hand_in(tiny, "bob", answered(tiny, **FULL))
    graded(tiny, FakeExecutor())
    log = tiny / ".autograder" / f"{TINY}.jsonl"
    for content, said in (
        (b"", "it has a grade that is not in the autograder's log: nbgrader itself gave it, or the log was deleted"),
        (log.read_bytes().replace(b'"add-check"', b'"add-chick"'), "`autograder verify` says which are damaged"),
    ):
        log.write_bytes(content)
        plan = dict(Grading(open_course(tiny), TINY, cast(Executor, FakeExecutor())).plan(["ada", "bob"]))
        assert all(why.startswith("would be graded: ") and why.endswith(said) for why in plan.values()), plan


def test_a_dry_run_says_of_each_why_it_would_be_graded(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def why(*, force: bool = False) -> dict[str, str]:
        return dict(Grading(open_course(tiny), TINY, cast(Executor, FakeExecutor())).plan(students, force=force))

    students = ["again", "failed", "gone", "late", "lost", "same", "stopped"]
    for student in students:
        hand_in(tiny, student, answered(tiny, **FULL | {"add": f"{ADD}  # from_{student}"}))
    assert set(why().values()) == {"would be graded: never graded"}
    (tiny / "submitted/late" / TINY / f"{TINY}.ipynb").unlink()
    graded(tiny, FakeExecutor(ends={"from_failed": OSError("no")}))
    hand_in(tiny, "again", answered(tiny, **FULL))
    hand_in(tiny, "late", answered(tiny, **FULL))
    shutil.rmtree(tiny / "autograded/lost")
    (tiny / ".autograder" / f"{TINY}.staging" / "stopped" / TINY).mkdir(parents=True)
    with Gradebook(f"sqlite:///{tiny}/gradebook.db", "tiny") as book:
        book.remove_submission(TINY, "gone")
    reasons = {
        "again": "handed in anew since",
        "failed": "the last run failed",
        "gone": "the gradebook has no grade of it any more",
        "late": "never graded",
        "lost": f"its graded copy in {tiny / 'autograded/lost' / TINY} is gone",
        "stopped": "the last run was stopped while it was stored",
    }
    expected = {student: f"would be graded: {reason}" for student, reason in reasons.items()}
    assert why() == expected | {"same": "unchanged"}
    assert why(force=True) == expected | {"same": "would be graded: --force"}
    monkeypatch.setattr("autograder.records.fingerprint.environment", lambda: {"numpy": "another"})
    packages = "files or limits of the lab, the sandbox or installed packages were changed since"
    assert why()["same"] == f"would be graded: {packages}"
    source, toml = tiny / "source" / TINY / f"{TINY}.py", tiny / "source" / TINY / "lab.toml"
    source.write_text(
        source.read_text().replace('"points": 3\n# ### BEGIN', '"points": 2').replace("}\n# ###", "}\n# ###")
    )
    for path, before, after, reason in (
        (source, "add(1, 2)", "add(1, 3 - 1)", "tests or other cells of the lab were changed since"),
        (source, '"solution": true, "points": 3', '"solution": true, "points": 2', ""),
        (toml, "points = 8", "points = 7", "what its cells are worth was changed since"),
    ):
        path.write_text(path.read_text().replace(before, after))
        if reason:
            list(release_labs(tiny, (TINY,)))
            assert why()["same"] == f"would be graded: {reason}"


def test_who_is_not_there_is_an_error_and_who_handed_in_nothing_is_missing(tiny: Path) -> None:
    submit(tiny, "ada")
    (tiny / "submitted/bob" / TINY).mkdir(parents=True)
    (tiny / "submitted/bob" / TINY / "mine.ipynb").write_text("mine")
    with pytest.raises(CourseError, match="nobody: no such student"):
        graded(tiny, FakeExecutor(), "nobody")
    outcomes = graded(tiny, FakeExecutor())
    assert (outcomes["ada"].result.status, outcomes["bob"].result.status) == (Status.GRADED, Status.MISSING)
    assert "mine.ipynb" in outcomes["bob"].result.messages[0]


def test_an_error_of_the_graders_costs_nobody_and_the_next_run_mends_it(tiny: Path) -> None:
    for student in ("ada", "bob", "cy"):
        submit(tiny, student, "falls" if student == "bob" else "")
    executor = FakeExecutor(ends={"falls": RuntimeError("a bug of ours")})
    outcomes = graded(tiny, executor, workers=2)
    assert outcomes["bob"].result.status == Status.FAILED
    assert outcomes["bob"].result.messages[-1].startswith("RuntimeError: a bug of ours (fake_executor.py:")
    assert {outcomes[s].result.status for s in ("ada", "cy")} == {Status.GRADED}
    assert "bob" not in {entry.student for entry in open_course(tiny).scores(TINY)}
    executor.ends.clear()
    assert {s: o.unchanged for s, o in graded(tiny, executor).items()} == {"ada": True, "bob": False, "cy": True}


def test_what_the_grader_may_not_read_fails_and_is_no_recorded_zero(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("ada", "bob"):
        submit(tiny, student)
    own = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if "bob" in path.parts:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return own(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    outcomes = graded(tiny, FakeExecutor())
    assert (outcomes["ada"].result.status, outcomes["bob"].result.status) == (Status.GRADED, Status.FAILED)
    (message,) = outcomes["bob"].result.messages
    assert message.endswith(f"bob/{TINY}/{TINY}.ipynb: Permission denied; {CHANGE}")
    assert [entry.student for entry in open_course(tiny).scores(TINY)] == ["ada"]


def test_one_that_fails_later_keeps_the_score_it_had_and_says_so(tiny: Path) -> None:
    submit(tiny, "ada")
    executor = FakeExecutor(ends={"falls": RuntimeError("a bug of ours")})
    graded(tiny, executor)
    submit(tiny, "ada", "falls")
    submit(tiny, "bob", "falls")
    outcomes = graded(tiny, executor)
    assert (outcomes["ada"].result.score, outcomes["ada"].stored) == (5, True)
    assert outcomes["ada"].result.messages[-1].endswith("; the gradebook keeps 5 of 8 from before")
    assert (outcomes["bob"].result.score, outcomes["bob"].stored) == (0, False)
    assert verify_lab(open_course(tiny), TINY).agrees


def test_only_the_instructors_cells_to_explore_keep_what_was_handed_in_as_their_output(tiny: Path) -> None:
    notebook = answered(tiny, **FULL)
    explore = next(cell for cell in notebook.cells if cell.source.startswith(EXPLORE))
    own = nbformat.v4.new_code_cell(f"{EXPLORE}\nprint('accuracy', accuracy)", id="mine")
    for cell, said in ((explore, "my own plot"), (own, "accuracy 0.999")):
        cell.outputs = [nbformat.v4.new_output("stream", text=said)]
    notebook.cells.insert(1, own)
    answer = next(cell for cell in notebook.cells if cell.id == "add")
    answer.source = f"{EXPLORE}\n{answer.source}"
    hand_in(tiny, "eve", notebook)
    left_out: set[str] = set()
    outcome = graded(tiny, FakeExecutor(explored=left_out))["eve"]
    assert left_out == {explore.id, "mine"}, "the answer is run, whatever it begins with"
    assert outcome.result.score == 5
    stored = nbformat.read(tiny / "autograded/eve" / TINY / f"{TINY}.ipynb", as_version=4)
    kept = {cell.source: cell.outputs[0].text for cell in stored.cells if cell.source in {explore.source, own.source}}
    assert kept[explore.source] == "my own plot"
    assert kept[own.source].startswith("[not run when grading")


def test_what_nbgrader_cannot_store_fails_alone_and_leaves_nothing_staged(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder.course import Course

    for student in ("ada", "bob"):
        submit(tiny, student)
    record = Course.record

    def broken(course: Course, student: str, lab: str, staged: Path, **times: str) -> None:
        if student == "ada":
            raise OSError(28, "No space left on device")
        record(course, student, lab, staged, **times)

    monkeypatch.setattr(Course, "record", broken)
    outcomes = graded(tiny, FakeExecutor())
    assert outcomes["ada"].result.status == Status.FAILED
    assert "disk full" in outcomes["ada"].result.messages[-1]
    assert outcomes["bob"].result.status == Status.GRADED
    assert not (tiny / ".autograder" / f"{TINY}.staging").exists()


def _refuse_changes(root: Path) -> None:
    """Make the gradebook say what SQLite says of a file on a read-only disk."""
    with sqlite3.connect(root / "gradebook.db") as database:
        refuse = "SELECT RAISE(ABORT, 'attempt to write a readonly database');"
        database.execute(f"CREATE TRIGGER refused BEFORE UPDATE ON grade BEGIN {refuse} END")


def test_a_gradebook_that_cannot_be_written_to_says_so_and_the_graded_copy_stays(tiny: Path) -> None:
    hand_in(tiny, "ada", answered(tiny, **FULL))
    graded(tiny, FakeExecutor())
    copy = tiny / "autograded" / "ada" / TINY / f"{TINY}.ipynb"
    before = copy.read_bytes()
    _refuse_changes(tiny)
    hand_in(tiny, "ada", answered(tiny, why="Because."))
    result = graded(tiny, FakeExecutor())["ada"].result
    assert result.status == Status.FAILED
    assert f"{tiny}/gradebook.db: attempt to write a readonly database; the file or its" in result.messages[-1]
    assert copy.read_bytes() == before
    assert not (tiny / ".autograder" / f"{TINY}.staging").exists()


def test_a_graded_copy_that_may_not_be_replaced_is_named_and_stays_whole(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tiny, "ada", answered(tiny, **FULL))
    graded(tiny, FakeExecutor())
    folder = tiny / "autograded" / "ada" / TINY
    rename = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if path == folder:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refused)
        result = graded(tiny, FakeExecutor(), force=True)["ada"].result
    assert result.status == Status.FAILED
    said = f"{folder}: Permission denied; {CHANGE}; the gradebook keeps"
    assert result.messages[-1].startswith(said)
    assert [path.name for path in folder.iterdir()] == [f"{TINY}.ipynb"]
    assert not (tiny / ".autograder" / f"{TINY}.staging").exists()
    assert graded(tiny, FakeExecutor(), force=True)["ada"].result.score == 5


def test_the_graded_copy_of_a_run_that_was_killed_is_put_back(tiny: Path) -> None:
    """Killed, it leaves what it has moved away; the next run compares the answers with that."""
    hand_in(tiny, "ada", answered(tiny, **FULL))
    graded(tiny, FakeExecutor())
    grade_by_hand(tiny, "ada", "why", 2.0)
    aside = tiny / ".autograder" / f"{TINY}.staging" / "ada" / f"{TINY}.before"
    aside.parent.mkdir(parents=True)
    (tiny / "autograded" / "ada" / TINY).rename(aside)
    hand_in(tiny, "ada", answered(tiny, **FULL | {"add": f"{ADD}  # changed"}))
    outcome = graded(tiny, FakeExecutor())["ada"]
    assert (outcome.to_grade, outcome.result.notes) == (0, ()), "the written answer is what it was"
    assert not aside.parent.parent.exists()


@pytest.mark.parametrize("at", range(5))
def test_a_run_that_is_killed_while_it_clears_up_says_so_until_the_next_one(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Killed before any of the removals: the folder that tells it is the last to go, or nothing is left."""
    hand_in(tiny, "ada", answered(tiny, **FULL))
    graded(tiny, FakeExecutor())
    removals, rmtree = [], shutil.rmtree

    def killed(folder: Any, **options: Any) -> None:
        removals.append(folder)
        if len(removals) > at:
            raise KeyboardInterrupt
        rmtree(folder, **options)

    staging = Staging(open_course(tiny), TINY)
    monkeypatch.setattr("autograder.grading.staging.shutil.rmtree", killed)
    with suppress(KeyboardInterrupt):
        graded(tiny, FakeExecutor(), force=True)
    monkeypatch.undo()
    left = list((tiny / ".autograder" / f"{TINY}.staging").rglob("*.ipynb"))
    assert staging.of("ada").exists() or not left
    assert len(graded(tiny, FakeExecutor())) == 1
    assert not (tiny / ".autograder" / f"{TINY}.staging").exists()
    assert not list(verify_lab(open_course(tiny), TINY).differences)


def test_a_run_that_is_given_up_keeps_what_it_has_yielded_and_stops_the_rest(tiny: Path) -> None:
    for student in ("ada", "bob", "cy"):
        submit(tiny, student)
    executor = FakeExecutor()
    grading = Grading(open_course(tiny), TINY, cast(Executor, executor))
    run = grading.run(grading.students())
    first = next(run).result.student
    run.close()
    assert executor.stopped
    outcomes = graded(tiny, FakeExecutor())
    assert [student for student, outcome in outcomes.items() if outcome.unchanged] == [first]


def test_a_staging_folder_that_was_left_means_that_it_is_graded_again(tiny: Path) -> None:
    submit(tiny, "ada")
    executor = FakeExecutor()
    graded(tiny, executor)
    (tiny / ".autograder" / f"{TINY}.staging/ada/{TINY}").mkdir(parents=True)
    assert not graded(tiny, executor)["ada"].unchanged


def test_a_score_that_changed_says_what_it_was(tiny: Path) -> None:
    submit(tiny, "ada")
    graded(tiny, FakeExecutor())
    case: dict[str, Any] = {
        "title": "t",
        "error": "Mismatch",
        "message": "",
        "hint": "",
        "hidden": False,
        "weight": 1.0,
    }

    def worse(found: Execution) -> Execution:
        failed = {name: Report(name, cases=({**case, "passed": False},)) for name in found.isolated}
        return Execution(found.notebook, complete=True, isolated=found.isolated, reports=failed)

    outcome = graded(tiny, FakeExecutor(ends={"from_ada": worse}), force=True)["ada"]
    assert (outcome.was, outcome.result.score) == (5.0, 0.0)


@pytest.mark.parametrize(("load", "runs"), [(100.0, 2), (0.0, 1)])
def test_the_starved_run_last_alone_and_what_they_then_earn_counts(
    load: float, runs: int, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    for student in ("ada", "bob", "cy"):
        submit(tiny, student)
    executor = FakeExecutor()

    def starved(found: Execution) -> Execution:
        if executor.ran.count("from_ada") > 1:
            return found
        return Execution(found.notebook, complete=False, problems=("stopped after 30 s",), starved=True)

    executor.ends["from_ada"] = starved
    outcome = graded(tiny, executor)["ada"].result
    assert executor.ran == ["from_ada", "from_bob", "from_cy", "from_ada"][: 2 + runs]
    assert (outcome.status, outcome.score) == ((Status.GRADED, 5.0) if runs == 2 else (Status.PARTLY_GRADED, 0.0))
    assert ("run once more, alone: the machine was busy when its time was over" in outcome.messages) == (runs == 2)


@pytest.mark.parametrize(("load", "runs"), [(100.0, 2), (0.0, 1)])
def test_what_the_sandbox_could_not_do_on_a_busy_machine_is_tried_once_more(
    load: float, runs: int, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    submit(tiny, "ada")
    executor = FakeExecutor()

    def refused(found: Execution) -> Execution:
        if executor.ran.count("from_ada") > 1:
            return found
        raise SandboxError("sandbox: does not answer")

    executor.ends["from_ada"] = refused
    outcome = graded(tiny, executor)["ada"].result
    assert len(executor.ran) == runs
    assert outcome.status == (Status.GRADED if runs == 2 else Status.FAILED)


def test_a_submission_is_stored_whole_or_not_at_all(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submit(tiny, "ada")
    graded(tiny, FakeExecutor())
    before = open_course(tiny).cells(TINY, "ada")

    def fails(*_arguments: object) -> Basis:
        raise OSError(errno.EIO, "the disk has had enough")

    def nothing_earned(execution: Execution) -> Execution:
        failed = {name: Report.failed(name, "AssertionError", "no") for name in execution.reports}
        return replace(execution, reports=failed)

    submit(tiny, "ada", "worse")
    with monkeypatch.context() as patched:
        patched.setattr(lab_grading, "basis", fails)
        outcome = graded(tiny, FakeExecutor(ends={"worse": nothing_earned}))["ada"]
    assert outcome.result.status == Status.FAILED
    assert open_course(tiny).cells(TINY, "ada") == before


def test_what_is_stored_of_a_submission_goes_to_the_disk_at_once(tiny: Path) -> None:
    for student in ("ada", "bob"):
        submit(tiny, student)
    written: list[str] = []

    def executes(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            written.append("row")

    def commits(_connection: object) -> None:
        if written[-1:] == ["row"]:
            written.append("disk")

    event.listen(Engine, "before_cursor_execute", executes)
    event.listen(Engine, "commit", commits)
    try:
        graded(tiny, FakeExecutor())
    finally:
        event.remove(Engine, "before_cursor_execute", executes)
        event.remove(Engine, "commit", commits)
    assert written.count("disk") == 2


def test_tests_that_give_nothing_cost_no_query_when_a_submission_is_stored(tiny: Path) -> None:
    hand_in(tiny, "ada", answered(tiny, **FULL))
    hand_in(tiny, "bob", answered(tiny, why=FULL["why"]))
    graded(tiny, FakeExecutor())
    asked: dict[str, int] = {}
    for student in ("ada", "bob"):
        queries: list[str] = []

        def note(
            _connection: object, _cursor: object, statement: str, *_rest: object, seen: list[str] = queries
        ) -> None:
            seen.append(statement)

        event.listen(Engine, "before_cursor_execute", note)
        try:
            outcome = graded(tiny, FakeExecutor(), student, force=True)[student]
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        # not all: nbgrader asks for the comment on an answer that is still a stub
        asked[student] = sum("FROM submitted_assignment " in " ".join(statement.split()) for statement in queries)
        assert outcome.result.score == {"ada": 5, "bob": 0}[student]
    assert asked["bob"] == asked["ada"]


def test_where_submissions_would_share_what_one_user_may_have_one_is_run_at_a_time() -> None:
    setup: Any = SimpleNamespace(executor=FakeExecutor())
    assert Threads(setup, 3).at_once == 3
    setup.executor.sandbox.one_at_a_time = True
    assert Threads(setup, 3).at_once == 1
