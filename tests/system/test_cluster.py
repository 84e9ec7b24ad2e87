"""Grading on a Dask cluster: real schedulers and workers, one of which is killed."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import open_course
from autograder.errors import AutograderError
from autograder.execution import Executor
from autograder.grading import workers
from autograder.grading.lab_grading import Grading
from autograder.grading.outcome import Outcome
from autograder.grading.workers import Cluster, run_task
from autograder.model import Status
from autograder.sandbox import choose
from tests.system.courses import ADD, BIN, DOUBLE, FULL, TINY, answered, hand_in

pytestmark = pytest.mark.slow

SLOW = f"""
import time
from pathlib import Path
import helper
time.sleep(0.5)
assert Path("data.txt").read_text() == "x"
{ADD}
"""
KILLS_ITSELF = f"{ADD}\nimport os\nos.kill(os.getpid(), 9)"


@contextmanager
def started(*command: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [str(BIN / "python"), "-m", "distributed.cli.dask_" + command[0], *command[1:]],
        cwd=cwd, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The address of a running scheduler."""
    with started("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", cwd=tmp_path) as process:
        assert process.stderr is not None
        found = next(match for line in process.stderr if (match := re.search(r"(tcp://127.0.0.1:\d+)", line)))
        yield found[1]


@contextmanager
def worker(address: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    with started(
        "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60", cwd=cwd
    ) as process:
        yield process


def grading_of(course: Path, students: int) -> Grading:
    for number in range(students):
        student = f"s{number:02}"
        hand_in(course, student, answered(course, **FULL | {"add": SLOW}))
        hand_in(course, student, b"", name="helper.py")
        hand_in(course, student, b"x", name="data.txt")
    hand_in(course, "half", answered(course, add=ADD, double=DOUBLE.replace("2", "3"), why=""))
    hand_in(course, "hostile", answered(course, add=KILLS_ITSELF, double=DOUBLE))
    hand_in(course, "rubbish", b"not a notebook")
    return Grading(open_course(course), TINY, Executor(choose(), ("numpy",)))


def graded(grading: Grading, address: str, killed: subprocess.Popen[str] | None = None) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    run = grading.run(grading.students(), runner=Cluster(grading.setup, address))
    for outcome in run:
        if killed is not None and not outcomes:
            killed.send_signal(signal.SIGKILL)
        outcomes[outcome.result.student] = outcome
    return outcomes


def test_a_worker_that_is_killed_costs_nobody_anything(tiny: Path, scheduler: str, tmp_path: Path) -> None:
    grading = grading_of(tiny, 8)
    with grading.executor, worker(scheduler, tmp_path) as first, worker(scheduler, tmp_path):
        outcomes = graded(grading, scheduler, killed=first)
    found = {student: (outcome.result.status, outcome.result.score) for student, outcome in outcomes.items()}
    assert found == {f"s{number:02}": (Status.GRADED, 5.0) for number in range(8)} | {
        "half": (Status.GRADED, 2.0),
        "hostile": (Status.PARTLY_GRADED, 0.0),
        "rubbish": (Status.UNREADABLE, 0.0),
    }
    assert {outcome.result.sandbox for outcome in outcomes.values()} == {grading.executor.sandbox.walls}
    assert all(path.is_file() for path in (tiny / "autograded").glob("s0*/*/data.txt"))


def test_a_cluster_that_is_not_there_is_said_to_be_missing(
    tiny: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_CONNECT_S", 2)
    grading = grading_of(tiny, 1)
    with grading.executor:
        with pytest.raises(AutograderError, match="no scheduler with a worker answers"):
            Cluster(grading.setup, "tcp://127.0.0.1:9")
        with pytest.raises(AutograderError, match="no scheduler with a worker answers"):
            Cluster(grading.setup, scheduler)


def test_a_worker_with_other_packages_does_not_grade(tiny: Path, scheduler: str, tmp_path: Path) -> None:
    grading = grading_of(tiny, 1)
    with grading.executor, worker(scheduler, tmp_path):
        cluster = Cluster(grading.setup, scheduler)
        task = cluster._task(grading._read("s00"))
        cluster.close()
        assert run_task(task).failure == ""
        with pytest.raises(AutograderError, match=r"other packages: numpy \d"):
            run_task(replace(task, environment={**task.environment, "numpy": "1.0"}))
