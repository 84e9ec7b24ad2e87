"""Courses to be graded: a released lab and the honest submissions of a class, one in eight with a wrong answer."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.commands.demo import LAB, make_course
from autograder.course import open_course
from autograder.release.publish import release_labs
from benchmarks.grading.notebooks import NOTEBOOKS, Notebook

__all__ = ["LAB_01", "NAMES", "STOCK_CONFIG", "Class", "make_class", "student"]

LAB_01 = "lab01"
NAMES = ("numpy", "torch", "keras", LAB_01)
_SOLUTIONS = Path(__file__).parents[2] / "solutions"
STOCK_CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "benchmark"\n'
_KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
_RENAMED = re.compile(r"(?<![.\w])(?:result|gradient)\b(?!s|=)")
"""A local variable of the solutions: no two submissions are the same."""
_ONE_IN = 8
"""One submission of so many has one wrong answer: a grader that gives everybody full marks is to be noticed."""


@dataclass(frozen=True)
class Class:
    """A course directory with one lab of one notebook, and what its submissions must earn.

    Attributes:
        lab: also the name of its notebook.
        tests: source and points of each automatic test cell, by grade_id.
        right: points that each student must be given, by student and grade_id.
    """

    root: Path
    lab: str
    tests: dict[str, tuple[str, float]]
    right: dict[str, dict[str, float]]

    def submission(self, who: str) -> Path:
        return self.root / "submitted" / who / self.lab / f"{self.lab}.ipynb"


def student(number: int) -> str:
    return f"student{number:04}"


def make_class(name: str, submissions: int, root: Path) -> Class:
    """Make a course with this notebook in an empty directory, released and handed in by so many students."""
    lab, solved, wrong = _lab_01(root) if name == LAB_01 else _plain(NOTEBOOKS[name], root)
    rows = [row for row in open_course(root).notebooks(lab)[lab] if row.automatic]
    made = Class(root, lab, {row.grade_id: (row.source, row.points) for row in rows}, {})
    for number in range(submissions):
        notebook, failed = copy.deepcopy(solved), ""
        if number % _ONE_IN == _ONE_IN - 1:
            failed = wrong(notebook)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = _RENAMED.sub(rf"\g<0>_{number}", cell.source)
        who = student(number)
        made.submission(who).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, made.submission(who))
        made.right[who] = {row.grade_id: 0.0 if row.grade_id == failed else row.points for row in rows}
    return made


_Made = tuple[str, nbformat.NotebookNode, Callable[[nbformat.NotebookNode], str]]


def _plain(notebook: Notebook, root: Path) -> _Made:
    """Make an ordinary nbgrader course; return its lab, the solved notebook, and how to spoil it."""
    lab = f"ps_{notebook.name}"
    (root / "source" / lab).mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(STOCK_CONFIG)
    source = nbformat.v4.new_notebook(cells=list(_cells(notebook)), metadata=_KERNEL)
    nbformat.write(source, root / "source" / lab / f"{lab}.ipynb")
    list(release_labs(root, (lab,)))
    solved = nbformat.read(root / "release" / lab / f"{lab}.ipynb", as_version=4)
    for task in notebook.tasks:
        _cell(solved, task.name).source = task.solution.strip()
    last = notebook.tasks[-1]

    def spoil(submitted: nbformat.NotebookNode) -> str:
        _cell(submitted, last.name).source = last.wrong
        return f"{last.name}-check"

    return lab, solved, spoil


def _cells(notebook: Notebook) -> Iterator[nbformat.NotebookNode]:
    code = nbformat.v4.new_code_cell
    yield code(notebook.setup, metadata=_metadata("setup", locked=True))
    for task in notebook.tasks:
        solution = f"### BEGIN SOLUTION\n{task.solution.strip()}\n### END SOLUTION"
        yield code(solution, metadata=_metadata(task.name, solution=True))
        check = _metadata(f"{task.name}-check", locked=True, grade=True, points=task.points)
        yield code(task.tests.strip(), metadata=check)


def _metadata(grade_id: str, **more: bool | int) -> dict[str, dict[str, object]]:
    common = {"schema_version": 3, "task": False, "grade": False, "locked": False, "solution": False}
    return {"nbgrader": {**common, "grade_id": grade_id, **more}}


def _cell(notebook: nbformat.NotebookNode, grade_id: str) -> nbformat.NotebookNode:
    return next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def _lab_01(root: Path) -> _Made:
    """Make the demo's course; keep of its samples the one with full marks."""
    make_course(_SOLUTIONS / LAB, root)
    path = root / "submitted/full_marks" / LAB / f"{LAB}.ipynb"
    solved = nbformat.read(path, as_version=4)
    for other in sorted((root / "submitted").glob("*/*/*")):
        other.unlink()
        other.parent.rmdir()
        other.parent.parent.rmdir()

    def spoil(submitted: nbformat.NotebookNode) -> str:
        _cell(submitted, "predictions").source = "def predictions():\n    return None"
        return "predictions-check"

    return LAB, solved, spoil
