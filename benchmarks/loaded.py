"""Grades each lab's solution while other programs want the processors, and says what was lost.

python -m benchmarks.loaded [--loops 4] [--runs 3] [LAB ...]

Beside endless loops each solution is graded so many times, by `autograder grade` in a course of its own. A grade does
not depend on the load: each test earns its points each time. Ends with exit code 1 where one did not.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.release.build import find_labs
from benchmarks.common import median_and_range

_ROOT = Path(__file__).parents[1]
_AUTOGRADER = [str(Path(sys.executable).with_name("autograder"))]
_STUDENT = "solution"


def main() -> None:
    """Grade the labs named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("labs", nargs="*", metavar="LAB")
    parser.add_argument("--loops", type=int, default=4, help="endless loops beside")
    parser.add_argument("--runs", type=int, default=3, help="gradings of each lab")
    asked = parser.parse_args()
    lost = 0
    print(
        f"| lab | points of tests, in each of {asked.runs} runs beside {asked.loops} loops | seconds |\n|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder, "course")
        for lab in [path.name for path in find_labs(_ROOT / "solutions") if not asked.labs or path.name in asked.labs]:
            _hand_in(course, lab)
            with _beside(asked.loops):
                runs = [_graded(course, lab) for _ in range(asked.runs)]
            points = ", ".join(f"{earned:g} of {most:g}" for earned, most, _ in runs)
            lost += sum(earned < most for earned, most, _ in runs)
            print(f"| {lab} | {points} | {median_and_range([s for *_, s in runs], 0)} |", flush=True)
    sys.exit(lost > 0)


def _hand_in(course: Path, lab: str) -> None:
    """Release a lab in a course, and hand its solution in."""
    shutil.copytree(_ROOT / "solutions" / lab, course / "solutions" / lab)
    shutil.copy(_ROOT / "nbgrader_config.py", course)
    subprocess.run([*_AUTOGRADER, "release", lab, "--skip-solution"], cwd=course, check=True, capture_output=True)
    place = course / "submitted" / _STUDENT / lab
    place.mkdir(parents=True)
    shutil.copy(course / "solutions" / lab / f"{lab}.ipynb", place)


@contextmanager
def _beside(loops: int) -> Iterator[None]:
    """Let so many processes compute for ever."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def _graded(course: Path, lab: str) -> tuple[float, float, float]:
    """Return the points of the tests, the most that they give, and the seconds of the whole command."""
    command = [*_AUTOGRADER, "grade", lab, "--student", _STUDENT, "--force", "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=course, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    cells: list[dict[str, Any]] = [cell for cell in json.loads(done.stdout)["cells"] if cell["points"] is not None]
    return sum(cell["points"] for cell in cells), sum(cell["max_points"] for cell in cells), seconds


if __name__ == "__main__":
    main()
