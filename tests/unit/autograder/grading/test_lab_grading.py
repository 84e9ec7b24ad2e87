"""The grading of a class: in which order, what is stored when, what is not run again. Nothing is executed here."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import nbformat
import pytest

from autograder.course import open_course
from autograder.errors import CourseError, SandboxError
from autograder.execution import Checks, Execution, Executor
from autograder.execution.results import Report
from autograder.grading.lab_grading import Grading, Outcome
from autograder.model import Status
from autograder.records.verify import verify_lab
from tests.system.courses import FULL, TINY, answered, hand_in

Change = Callable[[Execution], Execution]


@dataclass
class FakeExecutor:
    """Runs nothing: a test passes if the answer is there. `ends` says by the answer's text what becomes of a run."""

    ends: dict[str, Exception | Change] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    preload: tuple[str, ...] = ()
    stopped: bool = False
    sandbox: Any = field(default_factory=lambda: SimpleNamespace(name="none", walls="", isolated=False))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, notebook: nbformat.NotebookNode, *, checks: Checks, **_rest: Any) -> Execution:
        notebook = copy.deepcopy(notebook)
        text = "\n".join(cell.source for cell in notebook.cells)
        with self.lock:
            self.ran.append(next((word for word in text.split() if word.startswith("from_")), ""))
        passed = "NotImplementedError" not in text
        case = {"title": "t", "error": "", "message": "", "hint": "", "hidden": False, "weight": 1.0, "passed": passed}
        if not passed:
            case["error"] = "NotImplementedError"
        reports = {name: Report(name, cases=(case,), value="1") for name in checks.isolated}
        found = Execution(notebook, complete=True, isolated=checks.isolated, reports=reports)
        for word, end in self.ends.items():
            if word in text:
                if isinstance(end, Exception):
                    raise end
                found = end(found)
        return found

    def stop(self) -> None:
        self.stopped = True


def submit(root: Path, student: str, word: str = "") -> None:
    """Hand in full answers, with a word in them by which the executor knows whose they are."""
    hand_in(root, student, answered(root, **FULL | {"add": f"{FULL['add']}  # from_{student} {word}"}))


def graded(root: Path, executor: FakeExecutor, *students: str, **options: Any) -> dict[str, Outcome]:
    grading = Grading(open_course(root), TINY, cast(Executor, executor))
    return {outcome.result.student: outcome for outcome in grading.run(grading.students(students), **options)}


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


def test_only_who_is_asked_for_and_what_has_changed_runs_again(tiny: Path) -> None:
    for student in ("ada", "bob"):
        submit(tiny, student)
    executor = FakeExecutor()
    graded(tiny, executor)
    submit(tiny, "bob", "better")
    assert {s: o.unchanged for s, o in graded(tiny, executor).items()} == {"ada": True, "bob": False}
    graded(tiny, executor, "ada", force=True)
    assert executor.ran == ["from_ada", "from_bob", "from_bob", "from_ada"]


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
    assert outcomes["bob"].result.messages[-1].startswith("RuntimeError: a bug of ours (test_lab_grading.py:")
    assert {outcomes[s].result.status for s in ("ada", "cy")} == {Status.GRADED}
    assert "bob" not in {entry.student for entry in open_course(tiny).scores(TINY)}
    executor.ends.clear()
    assert {s: o.unchanged for s, o in graded(tiny, executor).items()} == {"ada": True, "bob": False, "cy": True}


def test_what_nbgrader_cannot_store_fails_alone_and_leaves_nothing_staged(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder.course import Course

    for student in ("ada", "bob"):
        submit(tiny, student)
    record = Course.record

    def broken(course: Course, student: str, lab: str, staged: Path) -> None:
        if student == "ada":
            raise OSError(28, "No space left on device")
        record(course, student, lab, staged)

    monkeypatch.setattr(Course, "record", broken)
    outcomes = graded(tiny, FakeExecutor())
    assert outcomes["ada"].result.status == Status.FAILED
    assert "disk full" in outcomes["ada"].result.messages[-1]
    assert outcomes["bob"].result.status == Status.GRADED
    assert not (tiny / ".autograder" / f"{TINY}.staging").exists()


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
