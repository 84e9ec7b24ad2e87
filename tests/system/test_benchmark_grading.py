"""The grader's benchmark runs end to end: small classes, every check of it made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.grading.courses import make_class
from benchmarks.grading.graders import Failed, run
from benchmarks.grading.hostile import HOSTILE
from benchmarks.grading.thousand import Run

pytestmark = pytest.mark.slow


def _benchmark(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.grading", *map(str, arguments)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_speed_compares_nbgrader_with_ours(tmp_path: Path) -> None:
    target = tmp_path / "speed.json"
    options = ("--submissions", "2", "--notebooks", "numpy", "--graders", "nbgrader,otter,ours2", "--repeats", "1")
    lines = _benchmark("speed", *options, "--json", target).splitlines()
    assert [line.split()[1] for line in lines] == ["grader", "nbgrader", "otter", "ours,"]
    assert lines[2].endswith("not installed")
    rows = json.loads(target.read_text())["rows"]
    assert [(row["grader"], len(row["seconds"]), len(row["each_s"])) for row in rows] == [
        ("nbgrader", 1, 2),
        ("ours2", 1, 2),
    ]
    assert all(0 < second < row["seconds"][0] for row in rows for second in row["each_s"])


def test_a_grader_that_gives_other_points_is_no_comparison(tmp_path: Path) -> None:
    made = make_class("numpy", 8, tmp_path / "course")
    who = next(who for who, points in made.right.items() if 0.0 in points.values())
    assert who == "student0007"
    made.right[who] = {grade_id: points for grade_id, (_, points) in made.tests.items()}
    with pytest.raises(Failed, match=f"ours1, ps_numpy: 1 wrong, {who} was given"):
        run("ours1", made, None)


@pytest.mark.thorough
def test_a_small_class_survives_two_kills_with_one_right_result_each(tmp_path: Path) -> None:
    """All kinds of hostile submissions are among them; the benchmark itself fails if anything is wrong or left."""
    plot = tmp_path / "class.svg"
    hostile = len(HOSTILE) + 1
    options = ("--submissions", "40", "--hostile", str(hostile / 40), "--kills", "2", "--plot", plot)
    lines = _benchmark("thousand", *options).splitlines()
    assert lines[0].startswith(f"40 submissions, {hostile} hostile ({hostile} kinds), 2 kills")
    assert "<svg" in plot.read_text()


def test_rates_by_quarter_leave_out_the_time_from_a_kill_to_the_next_result() -> None:
    run = Run({})
    run.stored_s = {str(n): 10.0 + n + (20 if n > 4 else 0) for n in range(9)}
    run.killed_s = [14.5]
    assert run.quarters == pytest.approx([60, 60, 80, 60])


def test_a_daemon_that_a_killed_process_left_behind_is_found() -> None:
    daemon = "import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(60)"
    code = f"""
import os, signal, subprocess, sys
from benchmarks.grading.processes import adopt_orphans, below, wait_until_none
adopt_orphans()
subprocess.run([sys.executable, "-c", {daemon!r}], check=True)
print(wait_until_none(0.5))
for pid in below(os.getpid()):
    os.kill(pid, signal.SIGKILL)
print(wait_until_none(5))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    found, then = done.stdout.splitlines()
    assert found.count("time.sleep(60)") == 1
    assert then == "[]"
