"""How long a cell may compute, and how long it may wait, does not depend on what else the machine does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.execution import Executor, preloads
from autograder.execution.time_limit import PATIENCE
from autograder.grading import grade_one
from autograder.grading.attempt import Attempt
from autograder.sandbox import choose
from autograder.submission.handin import Handin
from benchmarks.grading.busy import busy
from tests.system.courses import FULL, TINY, answered, grade, hand_in
from tests.system.executions import LIMITS, cases, run

pytestmark = pytest.mark.slow

SHORT = replace(LIMITS, cell_time_s=2)
PATIENT = replace(SHORT, patience=60)
"""The clock stops nothing, however busy the machine is: what a cell computes decides."""
COMPUTES = """
import time
def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
    return 1
"""
TEST = """#test t
from labkit import check
with check.case("computes"): check.equal(compute(1.8), 1)
check.score(1)"""


@pytest.fixture(params=["pre-warmed", pytest.param("cold", marks=pytest.mark.thorough)])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with Executor(choose(), preloads([]) if request.param == "pre-warmed" else ()) as found:
        yield found


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Let so many endless loops run that one more process gets two fifths of a core."""
    with busy(round(2.5 * len(os.sched_getaffinity(0))) - 1):
        yield


@pytest.mark.usefixtures("busy_machine")
def test_what_computes_less_than_it_may_is_not_stopped_on_a_busy_machine(executor: Executor) -> None:
    limits = replace(PATIENT, cell_time_s=4, total_time_s=60)
    started = time.monotonic()
    execution = run(executor, f"{COMPUTES}compute(1.8)", TEST, limits=limits)
    assert (execution.problems, cases(execution, "t")) == ((), {"computes": ""})
    assert time.monotonic() - started > limits.cell_time_s, "the machine was not busy"


@pytest.mark.parametrize(
    "source",
    ["while True: pass", "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])"],
)
def test_a_cell_that_computes_too_long_is_stopped_and_its_limit_named(source: str) -> None:
    with Executor(choose()) as executor:
        execution = run(executor, source, limits=PATIENT)
    assert execution.problems == ("cell 1 was stopped after 2 s of computing",)
    assert not execution.starved


def test_a_cell_that_waits_too_long_is_stopped_and_its_limit_named() -> None:
    with Executor(choose()) as executor:
        started = time.monotonic()
        execution = run(executor, "import time\ntime.sleep(60)", limits=SHORT)
    assert execution.problems == (f"cell 1 was stopped after {PATIENCE * 2:g} s",)
    assert not execution.starved
    assert time.monotonic() - started < 50


def test_a_test_that_waits_too_long_is_stopped_and_its_limit_named(executor: Executor) -> None:
    execution = run(executor, "import time", TEST.replace("compute(1.8)", "time.sleep(60)"), COMPUTES, limits=SHORT)
    (message,) = (case["message"] for case in execution.reports["t"].cases or ())
    assert message == f"TimeLimit: stopped after {PATIENCE * 2:g} s"
    assert execution.problems == (f"cell 't' was stopped after {PATIENCE * 2:g} s",)
    assert not execution.starved


SLEEPY = "import time\nwhile True:\n    for _ in range(10_000): pass\n    time.sleep(0.003)"
"""Uses some tenth of a processor, as on a busy machine: too little to compute for as long as it may."""


@pytest.mark.parametrize(
    ("source", "load", "again"), [(SLEEPY, 100.0, 1), (SLEEPY, 0.0, 0), ("time.sleep(60)", 100.0, 0)]
)
def test_what_computed_when_the_clock_stopped_it_on_a_busy_machine_is_run_once_more_alone(
    source: str, load: float, again: int, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    monkeypatch.setattr("autograder.execution.time_limit._STARVED", 0.02)
    ran: list[str] = []
    attempt = grade_one.attempt

    def counted(setup: grade_one.Setup, handin: Handin) -> Attempt:
        ran.append(handin.student)
        return attempt(setup, handin)

    monkeypatch.setattr("autograder.grading.workers.attempt", counted)
    toml = tiny / "source" / TINY / "lab.toml"
    toml.write_text(toml.read_text().replace("cell_time_s = 4", "cell_time_s = 2"))
    hand_in(tiny, "slow", answered(tiny, **FULL | {"add": f"import time\n{source}"}))
    hand_in(tiny, "works", answered(tiny, **FULL))
    outcome = grade(tiny)["slow"].result
    assert ran == ["slow", "works", "slow"][: 2 + again]
    assert any("run once more, alone" in message for message in outcome.messages) == bool(again)
    assert outcome.status == "partly graded"
