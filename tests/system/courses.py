"""Small courses and submissions for the grader's tests, and ways to run the grader on them."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import nbformat
from click.testing import CliRunner, Result

from autograder.cli import main
from autograder.course import open_course
from autograder.execution import Executor
from autograder.grading.lab_grading import Grading
from autograder.grading.outcome import Outcome
from autograder.release.publish import release_labs
from autograder.sandbox import choose

TINY = "01_tiny"
BIN = Path(sys.executable).parent

_TOML = """
title = "Tiny"
question = "Can it be graded?"
hours = 1
points = 8

[limits]
cell_time_s = 4
total_time_s = 10
memory_mib = 2048
output_kib = 64
"""
_SOURCE = '''
# %% [markdown]
# # Tiny
#
# ### Task 1. Add (2 points)

# %% nbgrader={"grade_id": "add", "solution": true}
def add(a, b):
    """Return the sum."""
    ### BEGIN SOLUTION
    return a + b
    ### END SOLUTION

# %% nbgrader={"grade_id": "add-check", "grade": true, "points": 2}
from labkit import check

with check.case("one and two are three", hint="use +"):
    check.equal(add(1, 2), 3)
### BEGIN HIDDEN TESTS
with check.hidden_case("negative numbers can be added"):
    check.equal(add(-1, -1), -2)
### END HIDDEN TESTS
check.score(2)

# %% explore=true
raise RuntimeError("an explore cell was run")

# %% [markdown]
# ### Task 2. Double (3 points)

# %% nbgrader={"grade_id": "double", "solution": true}
def double(a):
    """Return twice a."""
    ### BEGIN SOLUTION
    return 2 * a
    ### END SOLUTION

# %% nbgrader={"grade_id": "double-check", "grade": true, "points": 3}
from labkit import check

with check.case("two is doubled"):
    check.equal(double(2), 4)
with check.case("three is doubled"):
    check.equal(double(3), 6)
with check.case("a word is doubled"):
    check.equal(double("a"), "aa")
check.score(3)

# %% [markdown]
# ### Task 3. Why (3 points)

# %% [markdown] nbgrader={"grade_id": "why", "grade": true, "solution": true, "points": 3}
# ### BEGIN SOLUTION
# Because.
# ### END SOLUTION
'''
_CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "tiny"\nc.CourseDirectory.ignore = ["*.py", "*.toml"]\n'
ADD = "def add(a, b):\n    return a + b"
DOUBLE = "def double(a):\n    return 2 * a"
FULL = {"add": ADD, "double": DOUBLE, "why": "Because it is."}


def tiny_course(root: Path) -> Path:
    """Make a course with one small lab of 8 points, 5 of them automatic, released; nobody has handed in."""
    folder = root / "source" / TINY
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(_TOML)
    (folder / f"{TINY}.py").write_text(_SOURCE.lstrip())
    (root / "nbgrader_config.py").write_text(_CONFIG)
    list(release_labs(root, (TINY,)))
    return root


def released(root: Path, lab: str = TINY, folder: str = "release") -> nbformat.NotebookNode:
    """Return the notebook that students receive."""
    return nbformat.read(root / folder / lab / f"{lab}.ipynb", as_version=4)


def answered(root: Path, **answers: str) -> nbformat.NotebookNode:
    """Return the students' notebook with these cells filled in, by their id."""
    notebook = released(root)
    for cell in notebook.cells:
        cell.source = textwrap.dedent(answers.get(cell.id, cell.source))
    return notebook


def hand_in(root: Path, student: str, content: nbformat.NotebookNode | bytes, name: str = f"{TINY}.ipynb") -> Path:
    """Put a notebook, or any bytes in place of one, where a student's submission belongs."""
    path = root / "submitted" / student / TINY / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else nbformat.writes(content).encode())
    return path


def edited(notebook: nbformat.NotebookNode, change: Callable[[list[Any]], object]) -> nbformat.NotebookNode:
    """Return a copy of which the cells were changed in place."""
    notebook = copy.deepcopy(notebook)
    change(notebook.cells)
    return notebook


def cell(notebook: nbformat.NotebookNode, cell_id: str) -> Any:
    """Return the cell with this id."""
    return next(cell for cell in notebook.cells if cell.id == cell_id)


_WARM: list[Executor] = []
_IMPORTED = ("numpy", "labkit.check", "autograder.boundary.student", "autograder.boundary.cells")


def warm() -> Executor:
    """Return this process's executor, with what small labs import: the first who asks waits for it, and nobody else."""
    if not _WARM:
        _WARM.append(Executor(choose(), _IMPORTED))
    return _WARM[0]


def cool() -> None:
    """End what `warm` has started, at the end of all tests."""
    while _WARM:
        _WARM.pop().close()


def grade(
    root: Path, students: Iterable[str] = (), lab: str = TINY, *, workers: int = 2, force: bool = False
) -> dict[str, Outcome]:
    """Grade in this process, and return the outcomes by student."""
    grading = Grading(open_course(root), lab, warm())
    chosen = grading.students(tuple(students))
    return {o.result.student: o for o in grading.run(chosen, workers=workers, force=force)}


def grade_by_hand(
    root: Path, student: str, grade_id: str, points: float | None, *, comment: str = "", extra: float | None = None
) -> None:
    """Give points, extra credit and a comment as formgrader does: PUT /api/grade/ID and PUT /api/comment/ID."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        grade = book.find_grade(grade_id, TINY, TINY, student)
        grade.manual_score, grade.extra_credit = points, extra
        grade.needs_manual_grade = points is None and grade.auto_score is None
        if comment:
            book.find_comment(grade_id, TINY, TINY, student).manual_comment = comment
        book.db.commit()


def points(outcome: Outcome) -> dict[str, float | None]:
    """Return what each graded cell earned."""
    return {cell.grade_id: cell.points for cell in outcome.result.cells}


def autograder(*arguments: str | Path) -> Result:
    """Run the command in this process; an error that it does not say in words of its own fails the test."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def process(*arguments: str | Path, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment, such as autograder or nbgrader, as a process of its own."""
    command = [str(BIN / arguments[0]), *map(str, arguments[1:])]
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"  # nbgrader starts alembic by its bare name
    outer = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES"}}
    environment = {**outer, "NO_COLOR": "1", "PATH": path, **more.pop("env", {})}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False, **more
    )


def copied(template: Path, target: Path) -> Path:
    """Return a copy of a course: making one again takes a second."""
    shutil.copytree(template, target, dirs_exist_ok=True)
    return target
