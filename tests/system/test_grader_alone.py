"""The kit without the labs' frameworks, from its wheel: it grades a NumPy course, and says what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from benchmarks.installation import KIT, closure, megabytes
from tests.bare import Bare, make
from tests.system.courses import TINY, hand_in, released, tiny_course

pytestmark = pytest.mark.slow

FRAMEWORKS = {"torch", "tensorflow", "keras", "scikit-learn", "matplotlib", "scipy"}


def test_the_grader_adds_little_to_nbgrader() -> None:
    nbgrader, grader, labs = (closure([line]) for line in ("nbgrader", KIT, f"{KIT}[labs]"))
    assert megabytes(grader[name] for name in grader.keys() - nbgrader.keys()) < 250
    assert not grader.keys() & FRAMEWORKS
    assert labs.keys() >= FRAMEWORKS


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Bare:
    return make(tmp_path_factory.mktemp("bare"), tmp_path_factory.mktemp("wheel"))


def _cell(name: str, source: str, points: int = 0) -> Any:
    of = {"grade_id": name, "schema_version": 3, "task": False, "cell_type": "code"}
    of |= {"grade": bool(points), "locked": bool(points), "solution": not points}
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": of | ({"points": points} if points else {})})


@pytest.fixture(scope="module")
def course(bare: Bare, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A foreign course: nbgrader's own, in NumPy, with what two students handed in."""
    root = tmp_path_factory.mktemp("course")
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'numbers'\n")
    solution = "import numpy as np\n\ndef mean(x):\n    ### BEGIN SOLUTION\n    return np.mean(x)\n    ### END SOLUTION"
    test = "assert mean([1, 2, 3]) == 2\n### BEGIN HIDDEN TESTS\nassert mean([5]) == 5\n### END HIDDEN TESTS"
    notebook = nbformat.v4.new_notebook(cells=[_cell("mean", solution), _cell("mean-test", test, points=2)])
    notebook.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "Python 3"}
    (root / "source/ps1").mkdir(parents=True)
    nbformat.write(notebook, root / "source/ps1/ps1.ipynb")
    made = bare.run("nbgrader", "generate_assignment", "ps1", cwd=root)
    assert made.returncode == 0, made.stderr
    for student, file in (("ada", "source"), ("bob", "release")):
        (root / "submitted" / student / "ps1").mkdir(parents=True)
        content = (root / file / "ps1/ps1.ipynb").read_text()
        (root / "submitted" / student / "ps1/ps1.ipynb").write_text(content)
    return root


def test_no_framework_is_there(bare: Bare, tmp_path: Path) -> None:
    for name in ("torch", "tensorflow", "keras", "sklearn", "matplotlib"):
        assert "ModuleNotFoundError" in bare.run("python", "-c", f"import {name}", cwd=tmp_path).stderr


def test_it_grades_a_foreign_course(bare: Bare, course: Path) -> None:
    graded = bare.run("autograder", "grade", "ps1", "--json", cwd=course)
    assert graded.returncode == 0, graded.stderr
    assert {
        found["student"]: (found["status"], found["score"]) for found in map(json.loads, graded.stdout.splitlines())
    } == {
        "ada": ("graded", 2),
        "bob": ("graded", 0),
    }
    for command in (("feedback", "ps1"), ("report", "ps1"), ("export", "--to", "grades.csv"), ("verify",)):
        done = bare.run("autograder", *command, cwd=course)
        assert done.returncode == 0, done.stderr
    assert (course / "feedback/ada/ps1/ps1.html").is_file()


def test_the_doctor_says_what_it_is_good_for(bare: Bare, tmp_path: Path) -> None:
    done = bare.run("labkit", "doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "are not installed; the grader does without" in done.stdout
    assert "pip install 'dl-scale-practicum[labs]'" in done.stdout
    assert done.stdout.rstrip().endswith("0 failed. Ready to grade, not for the labs.")


def test_a_lab_that_needs_a_framework_is_neither_graded_nor_released_without_it(bare: Bare, tmp_path: Path) -> None:
    root = tiny_course(tmp_path)
    hand_in(root, "ada", released(root))
    description = root / "source" / TINY / "lab.toml"
    description.write_text('frameworks = ["torch"]\n' + description.read_text())
    for command in ("grade", "release"):
        done = bare.run("autograder", command, TINY, cwd=root)
        assert (done.returncode, done.stdout) == (1, "")
        assert "lab.toml: the lab needs torch, which this environment does not have" in done.stderr
        assert "hint: pip install 'dl-scale-practicum[labs]'" in done.stderr
