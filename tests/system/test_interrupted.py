"""Ctrl-C and kill -9 amid a class: what is finished is stored, nothing is left, the same command goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import open_course
from tests.system.courses import ADD, BIN, DOUBLE, FULL, TINY, answered, copied, grade, hand_in

pytestmark = pytest.mark.slow

QUICK, SLOW = ("a", "b"), ("c", "d")


@pytest.fixture(scope="module")
def class_template(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = copied(tiny_template, tmp_path_factory.mktemp("class"))
    limits = course / "source" / TINY / "lab.toml"
    limits.write_text(
        limits.read_text().replace("cell_time_s = 4\ntotal_time_s = 10", "cell_time_s = 20\ntotal_time_s = 60")
    )
    for student in QUICK:
        hand_in(course, student, answered(course, **FULL))
    for student in SLOW:
        hand_in(course, student, answered(course, add=f"{ADD}\nimport time; time.sleep(5)", double=DOUBLE))
    return course


@pytest.fixture
def course(class_template: Path, tmp_path: Path) -> Path:
    return copied(class_template, tmp_path / "class")


class Running:
    """`autograder grade` as a process, two submissions graded and the next two being run."""

    def __init__(self, course: Path, *more: str) -> None:
        command = [str(BIN / "autograder"), "grade", TINY, "--workers", "2", "--json", *more]
        self.process = subprocess.Popen(
            command, cwd=course, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        self.done = sorted(json.loads(self.process.stdout.readline())["student"] for _ in QUICK)
        self.kernels = self._kernels()

    def _kernels(self) -> set[int]:
        """Wait until both slow submissions are in their sandboxes; return all processes below the grader."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            below = set(_below(self.process.pid))
            if sum(b"program.py" in _command(pid) for pid in below) >= 2:
                return below
            time.sleep(0.05)
        raise AssertionError("the slow submissions were not started")

    def end(self, number: signal.Signals) -> tuple[int, str, float]:
        """Send the signal; return exit code, stderr, and how long the process took to end."""
        started = time.monotonic()
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=20)
        return self.process.returncode, stderr, time.monotonic() - started

    def left(self) -> list[bytes]:
        """Return what is still there of the processes below the grader, four seconds after its end."""
        deadline = time.monotonic() + 4
        while (left := [_command(pid) for pid in self.kernels if _command(pid)]) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left


def _below(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield int(child)
            yield from _below(int(child))


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def running(course: Path) -> Iterator[Running]:
    running = Running(course)
    yield running
    if running.process.poll() is None:
        os.killpg(running.process.pid, signal.SIGKILL)
    running.process.communicate()


def test_ctrl_c_ends_within_seconds_and_the_same_command_goes_on(course: Path, running: Running) -> None:
    code, stderr, seconds = running.end(signal.SIGINT)
    assert (code, running.done) == (130, list(QUICK))
    assert "stopped: what was finished is stored; the same command goes on from there" in stderr
    assert "Traceback" not in stderr
    assert "Kernel died" not in stderr
    assert seconds < 10
    _check_what_is_left(course, running)


@pytest.mark.thorough
def test_ctrl_c_under_force_does_not_promise_to_go_on(course: Path) -> None:
    running = Running(course, "--force")
    code, stderr, _ = running.end(signal.SIGINT)
    assert code == 130
    assert "stopped: what was finished is stored; with --force the same command begins again\n" in stderr


def test_kill_9_leaves_nothing_that_runs_and_the_same_command_goes_on(course: Path, running: Running) -> None:
    code, _, _ = running.end(signal.SIGKILL)
    assert code == -signal.SIGKILL
    _check_what_is_left(course, running)


def _check_what_is_left(course: Path, running: Running) -> None:
    assert running.left() == []
    assert sorted(s.student for s in open_course(course).scores()) == list(QUICK)
    assert sorted(path.name for path in (course / "autograded").iterdir()) == list(QUICK)
    outcomes = grade(course)
    assert {s: o.unchanged for s, o in outcomes.items()} == {"a": True, "b": True, "c": False, "d": False}
    assert {o.result.score for o in outcomes.values()} == {5}
    assert not list((course / ".autograder").glob("*.staging"))


def test_a_reader_that_goes_away_ends_the_run_without_a_traceback(course: Path) -> None:
    command = f"{BIN / 'autograder'} grade {TINY} --workers 2 --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], cwd=course, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout)["lab"] == TINY
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert {o.result.status for o in grade(course).values()} == {"graded"}
