"""What is said before a lab is graded: of the source's own solution, of what is prepared, and when nothing is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.commands import notes
from autograder.commands.grade import grade_lab
from autograder.course import open_course
from autograder.execution import Executor
from tests.system.courses import TINY
from tests.unit.autograder.grading.fake_executor import FakeExecutor, submit


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> FakeExecutor:
    """What the command runs notebooks with, which runs none; `warmed` counts how often it was prepared."""
    found = FakeExecutor()
    monkeypatch.setattr("autograder.commands.grade._executors", lambda *_: iter([Entered(found)]))
    return found


class Entered:
    """A fake executor that can be entered as a context."""

    def __init__(self, fake: FakeExecutor) -> None:
        self.fake = fake

    def __enter__(self) -> FakeExecutor:
        return self.fake

    def __exit__(self, *_error: object) -> None:
        pass


def graded(course: Path, capsys: pytest.CaptureFixture[str]) -> str:
    grade_lab(course, TINY, (), workers=1, force=False, as_json=False)
    return capsys.readouterr().err


def test_what_the_sources_own_solution_loses_is_said_before_grading(
    tiny: Path, executor: FakeExecutor, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(tiny, "ada")
    source = tiny / "source" / TINY / f"{TINY}.py"
    assert "loses points" not in graded(tiny, capsys)
    source.write_text(source.read_text().replace("return a + b", "raise NotImplementedError  # from_source"))
    assert "loses points" not in graded(tiny, capsys), "nothing is to be graded"
    submit(tiny, "bob")
    said = graded(tiny, capsys)
    line = f"note: {TINY}: its own solution loses points, and so will students: 'add-check', 'double-check':"
    assert said.index(f"{TINY}: grading the source's own solution") < said.index(line) < said.index("1/2 ada")
    submit(tiny, "cy")
    runs = executor.ran.count("from_source")
    assert line in graded(tiny, capsys), "and again, as long as it does"
    assert executor.ran.count("from_source") == runs, "without another run"


def test_nothing_is_prepared_where_nothing_is_to_be_graded(
    tiny: Path, executor: FakeExecutor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(tiny, "ada")
    graded(tiny, capsys)
    monkeypatch.setattr(executor, "warm", pytest.fail)
    assert "1 unchanged, not run again" in graded(tiny, capsys)


def test_a_source_that_agreed_is_not_read_again_until_it_changes(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = open_course(tiny)
    assert notes._unreleased(course, TINY) == []
    monkeypatch.setattr("autograder.release.drift.unreleased", lambda *_: ["read"])
    assert notes._unreleased(course, TINY) == []
    source = tiny / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text() + "\n")
    assert notes._unreleased(course, TINY) == ["read"]


def test_the_executor_says_when_it_begins_to_prepare_and_does_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def prewarmed(*_arguments: Any, **_options: Any) -> str:
        events.append("warmed")
        return "warm"

    monkeypatch.setattr("autograder.sandbox.Prewarmed", prewarmed)
    cold: Any = "cold"
    executor: Any = Executor(cold, ("numpy",), begin=lambda: events.append("said"))
    assert (executor.sandbox, events) == ("cold", [])
    executor.warm()
    executor.warm()
    assert (executor.sandbox, events) == ("warm", ["said", "warmed"])


def test_the_command_imports_no_numpy_and_nothing_that_builds_labs() -> None:
    code = "import sys, autograder.commands.grade; print(sorted({'numpy', 'jupytext', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
