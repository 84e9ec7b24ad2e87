"""The graders that are compared, each run as its users run it: as a command, on a fresh copy of the course.

nbgrader: `nbgrader autograde LAB`. otter: `otter run` for each submission, from a virtual environment of its own; its
tests are the same source, run in the student's kernel after the notebook, from which the test cells are taken out.
ours: `autograder grade LAB --workers N`, sandbox on.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import nbformat

from autograder.course import open_course
from benchmarks.grading.courses import STOCK_CONFIG, Class

__all__ = ["GRADERS", "Failed", "Timing", "command", "run"]

GRADERS = ("nbgrader", "otter", "ours1", "ours2")
_ROOT = Path(__file__).parents[2]
_BIN = Path(sys.executable).parent
_OTTER_TEST = """
from otter.test_files import test_case

OK_FORMAT = False
name = {name!r}
points = {points!r}
_SOURCE = {source!r}


@test_case(points={points!r})
def test_cell(env):
    exec(compile(_SOURCE, {name!r}, "exec"), dict(env))
"""


class Failed(Exception):
    """A grader did not do its work, or gave other points than it must."""


@dataclass
class Timing:
    """One run of one grader: the whole command, and each submission.

    Attributes:
        seconds: of the whole command.
        each_s: of each submission; of nbgrader the time between one stored notebook and the next.
        points: by student and grade_id, automatic tests only.
    """

    seconds: float
    each_s: list[float]
    points: dict[str, dict[str, float]] = field(repr=False)


def run(name: str, made: Class, otter_python: Path | None) -> Timing:
    """Grade a fresh copy of the course. Raises Failed if a submission was not given what it must be."""
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        course = replace(made, root=Path(folder) / "course")
        shutil.copytree(made.root, course.root)
        if name == "otter":
            if otter_python is None:
                raise Failed("otter is not installed: give --otter-python")
            timing = _otter(otter_python, course)
        else:
            timing = _nbgrader(course) if name == "nbgrader" else _ours(int(name.removeprefix("ours")), course)
    wrong = {who: timing.points.get(who) for who, right in made.right.items() if timing.points.get(who) != right}
    for who, points in wrong.items():
        raise Failed(f"{name}, {made.lab}: {len(wrong)} wrong, {who} was given {points}, not {made.right[who]}")
    return timing


def command(*arguments: str | Path, cwd: Path, python: Path = Path(sys.executable)) -> tuple[str, float]:
    """Run a command of a Python environment; return its standard output and seconds. Raises Failed."""
    # nbgrader starts alembic by its bare name.
    environment = {**os.environ, "NO_COLOR": "1", "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    start = time.monotonic()
    done = subprocess.run(
        [str(python.parent / arguments[0]), *map(str, arguments[1:])],
        cwd=cwd,
        env=environment | ({} if python.parent == _BIN else {"PYTHONPATH": str(_ROOT)}),
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - start
    if done.returncode:
        raise Failed(f"{' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout, seconds


def _nbgrader(made: Class) -> Timing:
    (made.root / "nbgrader_config.py").write_text(STOCK_CONFIG, encoding="utf-8")  # without our commands
    started = time.time()
    _, seconds = command("nbgrader", "autograde", made.lab, cwd=made.root)
    if any((made.root / ".autograder").glob("*.jsonl")):
        raise Failed("nbgrader autograde has run our grader: there is nothing to compare")
    stored = [path.stat().st_mtime for path in (made.root / "autograded").glob("*/*/*.ipynb")]
    each_s = [later - earlier for earlier, later in pairwise([started, *sorted(stored)])]
    return Timing(seconds, each_s, _gradebook(made))


def _ours(workers: int, made: Class) -> Timing:
    lines, seconds = command("autograder", "grade", made.lab, "--workers", str(workers), "--json", cwd=made.root)
    results = [json.loads(line) for line in lines.splitlines()]
    if others := [result["student"] for result in results if not result["isolated"]]:
        raise Failed(f"{others[0]}: graded without a sandbox, which would be no comparison")
    return Timing(seconds, [result["seconds"] for result in results], _gradebook(made))


def _gradebook(made: Class) -> dict[str, dict[str, float]]:
    stored = open_course(made.root).scores(made.lab)
    cells = {name: f"{made.lab}/{name}" for name in made.tests}
    return {s.student: {name: s.grades[cell] for name, cell in cells.items()} for s in stored}


# --------------------------------------------------------------------------------------------------------------- otter
def _otter(python: Path, made: Class) -> Timing:
    tests = made.root / "autograder.zip"
    with zipfile.ZipFile(tests, "w") as archive:
        archive.writestr("otter_config.json", "{}")
        for name, (source, points) in made.tests.items():
            content = _OTTER_TEST.format(name=name, points=points, source=_whole_points(source))
            archive.writestr(f"tests/{name.replace('-', '_')}.py", content)
    each_s, points_of = [], {}
    for who in made.right:
        folder = made.root / "otter" / who
        folder.mkdir(parents=True)
        submission = _without_tests(made, who, folder)
        _, seconds = command(
            *("otter", "run", submission.name, "-a", tests, "-o", folder, "--no-logo"), cwd=folder, python=python
        )
        each_s.append(seconds)
        points_of[who] = _otter_points(folder / "results.json", made)
    return Timing(sum(each_s), each_s, points_of)


def _whole_points(source: str) -> str:
    """Return the test with its last line an assertion: otter knows no share of a test's points."""
    *lines, last = source.rstrip().split("\n")
    return "\n".join([*lines, f"assert {last}.full" if last.startswith("check.score(") else last])


def _without_tests(made: Class, who: str, folder: Path) -> Path:
    notebook = nbformat.read(made.submission(who), as_version=4)
    notebook.cells = [
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") not in made.tests
    ]
    path = folder / f"{made.lab}.ipynb"
    nbformat.write(notebook, path)
    return path


def _otter_points(path: Path, made: Class) -> dict[str, float]:
    """Return the points by grade_id; a case's name in the results is that of its test and a number."""
    earned = dict.fromkeys(made.tests, 0.0)
    for test in json.loads(path.read_text(encoding="utf-8"))["tests"]:
        if (name := test["name"].rpartition(" - ")[0] or test["name"]) in earned:
            earned[name] += float(test["score"])
    return earned
