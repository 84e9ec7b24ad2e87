"""A class of a thousand, one in twenty hostile, graded by a process that is killed again and again.

Whatever a killed grader leaves running becomes a child of the benchmark, which adopts orphans: nothing is missed,
whatever its name, user and namespace, and nothing of anybody else's is taken for it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from autograder.course import open_course
from autograder.records.log import Log
from benchmarks.grading.graders import Failed, command
from benchmarks.grading.hostile import HONEST, LAB, make_course
from benchmarks.grading.processes import adopt_orphans, below, name, wait_until_none

__all__ = ["Run", "draw", "grade_class", "summary"]

_GONE_S = 10.0
_ABANDONED_S = 120
"""A temporary folder so old, whose owner is dead, is removed by the next run; a younger one may be about to be used."""
_STARTER = "bwrap"
"""What may wait to begin after a kill. A sandbox with a student's program has other processes besides."""
_AMID_S = 0.5
_AT_START_S = 1.5
_COMMAND = Path(sys.executable).with_name("autograder")


@dataclass
class Run:
    """What was seen; times in seconds since the first start."""

    right: dict[str, tuple[str, float]]
    """What each submission is, and its score."""
    stored_s: dict[str, float] = field(default_factory=dict)
    """When each student's result came."""
    killed_s: list[float] = field(default_factory=list)
    gone_s: list[float] = field(default_factory=list)
    """How long after each kill its last process was gone."""
    folders: int = 0
    """Temporary folders that the killed runs left, all of which the next one removed."""
    starters: int = 0
    """Processes of bubblewrap that waited to begin in these folders, all of which the next run ended."""
    again: int = 0
    """Lines of the log beyond one a student: stored, and killed before that was complete."""

    @property
    def hostile(self) -> int:
        return sum(kind not in HONEST for kind, _ in self.right.values())

    @property
    def quarters(self) -> list[float]:
        """Submissions a minute in each quarter of the class, without the time from a kill to the next result."""
        times = self._working_s()
        marks = [round((len(times) - 1) * part / 4) for part in range(5)]  # from the first result to the last
        return [60 * (b - a) / (times[b] - times[a]) for a, b in pairwise(marks)]

    def _working_s(self) -> list[float]:
        lost, working = 0.0, []
        kills = sorted(self.killed_s)
        stored = sorted(self.stored_s.values())
        for earlier, now in pairwise([stored[0], *stored]):
            while kills and kills[0] <= now:
                lost, kills = lost + max(0.0, now - max(earlier, kills[0])), [k for k in kills if k > now]
            working.append(now - lost)
        return working


def grade_class(root: Path, *, submissions: int, hostile: float, kills: int, workers: int, seed: int) -> Run:
    """Make and grade a class in an empty directory; raise Failed if anything afterwards is not as it must be.

    Kills come at random numbers of results, the last one soon after the start that follows the one before.
    """
    course, folders = root / "course", root / "t"
    run = Run(make_course(course, submissions, hostile, seed))
    folders.mkdir()
    adopt_orphans()
    rng = random.Random(seed)
    counts = sorted(rng.sample(range(1, max(kills + 1, int(0.9 * submissions))), kills))
    grading = _Grading(run, course, folders, workers)
    for number, count in enumerate(counts, 1):
        last = number == kills > 1
        grading.kill(0 if last else count, rng.uniform(0, _AT_START_S if last else _AMID_S))
    grading.finish()
    _check_results(run, course)
    _check_folders(run, grading, folders)
    return run


class _Grading:
    """The command, started again after each kill."""

    def __init__(self, run: Run, course: Path, folders: Path, workers: int) -> None:
        self._run, self._course, self._folders = run, course, folders
        self._command = [str(_COMMAND), "grade", LAB, "--workers", str(workers), "--json"]
        self._started = time.monotonic()

    def kill(self, count: int, delay_s: float) -> None:
        """Grade until so many results are there, and kill delay_s later."""
        process = self._start()
        timer = threading.Timer(delay_s, process.kill)
        waiting = True
        while True:
            if waiting and len(self._run.stored_s) >= count:
                timer.start()
                waiting = False
            if not self._read(process):
                break
        timer.cancel()
        if process.wait() != -9:
            raise Failed(f"the grader ended, exit code {process.returncode}, before kill {len(self._run.killed_s) + 1}")
        self._run.killed_s.append(self._now())
        _check_processes(but=_STARTER)
        self._run.gone_s.append(self._now() - self._run.killed_s[-1])

    def finish(self) -> None:
        """Grade what is left."""
        process = self._start()
        while self._read(process):
            pass
        if process.wait():
            raise Failed(f"the grader's exit code is {process.returncode}; {self._course / 'stderr.txt'} says why")
        _check_processes(but=_STARTER)

    def _start(self) -> subprocess.Popen[str]:
        with (self._course / "stderr.txt").open("a") as stderr:
            return subprocess.Popen(
                self._command,
                cwd=self._course,
                env={**os.environ, "TMPDIR": str(self._folders), "NO_COLOR": "1"},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )

    def _read(self, process: subprocess.Popen[str]) -> bool:
        """Read one result; return whether there was one."""
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.endswith("\n"):
            process.stdout.close()
            return False
        self._run.stored_s.setdefault(json.loads(line)["student"], self._now())
        return True

    def _now(self) -> float:
        return time.monotonic() - self._started


# ---------------------------------------------------------------------------------------------------- what must be so
def _check_processes(but: str = "") -> None:
    """Raise Failed if processes are left, other than those of this name."""
    if left := wait_until_none(_GONE_S, but):
        raise Failed(f"{len(left)} processes left {_GONE_S:g} s after the end, such as: {left[0][:200]}")


def _check_results(run: Run, course: Path) -> None:
    right = {who: score for who, (_, score) in run.right.items()}
    log = Log(course / ".autograder" / f"{LAB}.jsonl")
    entries = [entry for entry in log.entries() if entry.result is not None]
    _compare("log", run, {who: result.score for who, result in log.latest().items()})
    stored = open_course(course).scores(LAB)
    if len(stored) != len(right):
        raise Failed(f"the gradebook holds {len(stored)} submissions, not {len(right)}")
    _compare("gradebook", run, {s.student: s.score for s in stored})
    run.again = len(entries) - len(right)
    command("autograder", "verify", LAB, cwd=course)


def _compare(where: str, run: Run, found: dict[str, float]) -> None:
    wrong = {who for who in {*run.right, *found} if found.get(who) != run.right.get(who, ("", None))[1]}
    for who in sorted(wrong):
        kind, score = run.right.get(who, ("nobody", None))
        raise Failed(f"{where}: {len(wrong)} wrong scores: {who} ({kind}) has {found.get(who)}, not {score}")


def _check_folders(run: Run, grading: _Grading, folders: Path) -> None:
    """Let time pass for what the killed runs left, run once more, and see that nothing is left."""
    left = list(folders.iterdir())
    run.starters = sum(name(pid) == _STARTER for pid in below(os.getpid()))
    then = time.time() - _ABANDONED_S
    for path in left:
        os.utime(path, (then, then))
    grading.finish()
    _check_processes()
    run.folders = len(left)
    if still := sorted(path.name for path in folders.iterdir()):
        raise Failed(f"{len(still)} temporary folders are left, such as {still[0]}")
    course = folders.with_name("course")
    if still := sorted(path.name for path in (course / ".autograder").glob("*.staging")):
        raise Failed(f"{still[0]} is left")


# -------------------------------------------------------------------------------------------------------------- report
def summary(run: Run) -> list[str]:
    """Return what to print."""
    quarters = run.quarters
    kinds = Counter(kind for kind, _ in run.right.values() if kind not in HONEST)
    seconds = max(run.stored_s.values())
    gone_s = max(run.gone_s, default=0)
    return [
        f"{len(run.right)} submissions, {run.hostile} hostile ({len(kinds)} kinds), {len(run.killed_s)} kills: "
        "each has its one right score in log and gradebook, and verify agrees",
        f"all graded after {seconds:.0f} s; stored twice {run.again}; no process left, the last one "
        f"{gone_s:.2f} s after a kill; {run.folders} temporary folders and {run.starters} sandboxes not yet begun "
        "left, removed by the next run",
        f"submissions/min by quarter, without new starts: {', '.join(f'{rate:.0f}' for rate in quarters)}; "
        f"last over first {quarters[-1] / quarters[0]:.2f}, slowest over fastest {min(quarters) / max(quarters):.2f}",
    ]


def draw(run: Run, target: Path) -> None:
    """Write a figure of submissions over time, with the kills, as SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from labkit import plot

    seconds = sorted(run.stored_s.values())
    minutes = [second / 60 for second in seconds]
    axes: Any = plot.curves(
        {"submissions": (minutes, list(range(1, len(minutes) + 1)))},
        title=f"{len(minutes)} submissions, {len(run.killed_s)} kills (dashed)",
        xlabel="minutes",
        ylabel="submissions graded",
    )
    for killed_s in run.killed_s:
        axes.axvline(killed_s / 60, color=plot.PALETTE[-1], linestyle="--", linewidth=1)
    axes.figure.savefig(target, format="svg", metadata={"Date": None})
