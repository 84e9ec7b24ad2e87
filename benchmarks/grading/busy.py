"""Grades solutions while endless loops keep the machine busy: a grade must not depend on that."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.commands.grade import grade_lab
from autograder.course import open_course
from autograder.release.build import find_labs
from autograder.release.publish import IGNORE, release_labs

__all__ = ["Graded", "busy", "graded", "names"]

_SOLUTIONS = Path(__file__).parents[2] / "solutions"
_LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
"""Ends when whoever measures is killed."""


@dataclass(frozen=True)
class Graded:
    """What the solution of a lab has earned of the points that no person gives, and how long that took."""

    lab: str
    points: float
    most: float
    seconds: float
    messages: tuple[str, ...]

    @property
    def full(self) -> bool:
        return self.points == self.most


def names() -> tuple[str, ...]:
    """Return the labs of this checkout."""
    return tuple(folder.name for folder in find_labs(_SOLUTIONS))


def graded(labs: Sequence[str], loops: int, workers: int) -> Iterator[Graded]:
    """Yield what `autograder grade` gives the solution of each lab while so many endless loops run."""
    with tempfile.TemporaryDirectory(prefix="grading-") as folder, busy(loops):
        root = Path(folder)
        (root / "source").symlink_to(_SOLUTIONS)
        (root / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.ignore = {IGNORE}\n")
        for lab in labs:
            list(release_labs(root, (lab,)))
            place = open_course(root).submitted("solution", lab)
            place.mkdir(parents=True)
            (place / f"{lab}.ipynb").write_bytes((_SOLUTIONS / lab / f"{lab}.ipynb").read_bytes())
            with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
                (outcome,) = grade_lab(root, lab, (), workers=workers, force=True, as_json=True)
            tests = [cell for cell in outcome.result.cells if cell.points is not None and cell.cases]
            earned, most = (sum(getattr(c, key) for c in tests) for key in ("points", "max_points"))
            yield Graded(lab, earned, most, outcome.result.seconds, outcome.result.messages)


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many endless loops running meanwhile, each in a session: Linux shares processors out among sessions."""
    loop = [sys.executable, "-c", _LOOP]
    running = [subprocess.Popen(loop, start_new_session=True) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
