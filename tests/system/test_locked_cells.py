"""Imports, data and helpers of locked cells and tests in a course made with nbgrader alone: no student changes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.boundary.given import FUNCTIONS
from autograder.course import checksum, open_course
from autograder.execution import Executor, preloads
from autograder.grading.outcome import Outcome
from autograder.grading.placement import find_modes
from autograder.model import Limits, Status
from autograder.release.publish import release_labs
from autograder.sandbox import choose
from tests.system.courses import FULL, TINY, answered, edited, grade, hand_in, points, process

pytestmark = pytest.mark.slow

CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "cs7"\nc.Execute.timeout = 20\n'
SETUP = """
import numpy as np
from math import *
rng = np.random.default_rng(7)
samples = rng.normal(size=5)
TOLERANCE = 1e-9

def close(a, b):
    return bool(np.allclose(a, b, atol=TOLERANCE))

class Box:
    def __init__(self, value):
        self.value = value

def boxed(value):
    return Box(value)

def doubled_twice(x):
    return double(double(x))
"""
CELLS = {
    "setup": SETUP,
    "double": "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * np.asarray(x)\n    ### END SOLUTION",
    "import-check": "assert np.allclose(double(samples), 2 * samples)",
    "helper-check": "assert close(double([1, 2]), [2, 4])\nassert not close(double(3), 7)",
    "twice-check": "assert close(doubled_twice(samples), 4 * samples)",
    "unbox": "def unbox(box):\n    ### BEGIN SOLUTION\n    return box.value if isinstance(box, Box) else None\n"
    "    ### END SOLUTION",
    "unbox-check": "assert unbox(boxed(5)) == 5",
    "tools": "import numpy.testing as npt\nfrom unittest import TestCase\ncase = TestCase()",
    "tools-check": "npt.assert_allclose(double([1]), [2])\nassert isclose(double(2), 4)",
    "answer": "answer = None\n### BEGIN SOLUTION\nanswer = samples.sum()\n### END SOLUTION",
    "answer-check": "assert abs(answer - samples.sum()) < TOLERANCE",
    "third-check": "THREE, NONE = 3, 0\ndef near(a, b):\n    return bool(np.allclose(a, b, atol=TOLERANCE))\n"
    "def halved_twice(x):\n    return half(half(x)) + NONE\nassert near(double(THREE), 6)",
    "half": "def half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION",
    "half-check": "assert near(half(THREE), 1.5)",
    "quarter-check": "assert near(halved_twice(8), 2)",
}
HANDS: dict[str, dict[str, str]] = {
    "honest": {},
    "shadows": {"own": "np = None\ndef close(a, b): return 1 / 0\nTOLERANCE = -1\nimport numpy as np"},
    "nothing": {
        "double": "def double(x): return 'no'",
        "unbox": "def unbox(box): return 0",
        "answer": "answer = 'no'",
        "half": "def half(x): return 0\ndef near(a, b): return True\ndef halved_twice(x): return 2",
    },
}
FORGERS = {
    "patches numpy": "np.allclose = lambda *a, **k: True\nnp.asarray = lambda *a, **k: 0\nnp.abs = np.asarray",
    "rebinds numpy": "import types\nnp = types.SimpleNamespace(allclose=lambda *a, **k: True, asarray=lambda x: x)",
    "redefines the helper": "def close(a, b): return np.asarray(a).dtype.kind == 'U' or a == b",
    "patches the helper": "close.__code__ = (lambda a, b: True).__code__",
    "moves the data": "samples[:] = 0\nsamples = np.zeros(0)",
    "widens the tolerance": "TOLERANCE = float('inf')",
    "redefines the other helper": "def doubled_twice(x): return 4 * np.asarray(x)",
    "patches what it imports": "import numpy.testing, math\nnumpy.testing.assert_allclose = lambda *a, **k: None\n"
    "math.isclose = isclose = lambda *a, **k: True\nclass npt:\n    assert_allclose = print",
    "makes all equal": "class np:\n    def __getattr__(self, name): return lambda *a, **k: True\nnp = np()",
}
for _name, _code in FORGERS.items():
    HANDS[_name] = {**HANDS["nothing"], "own": _code}
HANDS["redefines the other helper"].pop("double")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("locked")
    (root / "source/ps").mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    nbformat.write(
        nbformat.v4.new_notebook(cells=[_cell(*item) for item in CELLS.items()]), root / "source/ps/ps.ipynb"
    )
    made = process("nbgrader", "generate_assignment", "ps", cwd=root)
    assert made.returncode == 0, made.stderr
    for student, answers in HANDS.items():
        notebook = nbformat.read(root / "source/ps/ps.ipynb", as_version=4)
        released = nbformat.read(root / "release/ps/ps.ipynb", as_version=4)
        for cell, handed in zip(notebook.cells, released.cells, strict=True):
            cell.metadata = handed.metadata
            cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
        if "own" in answers:
            notebook.cells.insert(2, nbformat.v4.new_code_cell(answers["own"]))
        path = root / "submitted" / student.replace(" ", "-") / "ps"
        path.mkdir(parents=True)
        nbformat.write(notebook, path / "ps.ipynb")
    return root


def _cell(name: str, source: str) -> Any:
    graded = name.endswith("-check")
    about = {"grade_id": name, "grade": graded, "locked": graded or name == "setup", "schema_version": 3,
             "solution": name in {"double", "unbox", "answer", "tools", "half"}, "task": False}  # fmt: skip
    if graded:
        about["points"] = 2
    return nbformat.v4.new_code_cell(source.strip(), metadata={"nbgrader": about})


@pytest.fixture(scope="module")
def outcomes(course: Path) -> dict[str, Outcome]:
    return grade(course, lab="ps")


def test_the_instructors_own_solution_says_how_much_can_be_the_graders(course: Path) -> None:
    found = open_course(course)
    with Executor(choose(), preloads([])) as executor:
        checks = find_modes(found, "ps", executor, Limits(), {}).checks["ps"]
    assert checks.guarded == frozenset()
    assert set(checks.levels.values()) == {FUNCTIONS}
    assert checks.levels.keys() == checks.isolated


@pytest.mark.parametrize("student", ["honest", "shadows"])
def test_an_honest_student_has_full_marks(student: str, outcomes: dict[str, Outcome]) -> None:
    assert outcomes[student].result.score == 18, outcomes[student].result


@pytest.mark.parametrize("student", ["nothing", *FORGERS])
def test_whoever_rebinds_or_patches_what_a_locked_cell_gave_earns_nothing(
    student: str, outcomes: dict[str, Outcome]
) -> None:
    earned = {name: value for name, value in points(outcomes[student.replace(" ", "-")]).items() if value}
    honest = {
        "redefines the other helper": {"import-check", "helper-check", "twice-check", "tools-check", "third-check"}
    }.get(student, set())
    assert set(earned) == honest, outcomes[student.replace(" ", "-")].result


# ----------------------------------------------------------------------------------------- what a student's file claims
def _given(course: Path, student: str, change: Callable[[list[Any]], object]) -> Outcome:
    hand_in(course, student, edited(answered(course, **FULL), change))
    return grade(course, [student])[student]


def _forged(cells: list[Any], text: str) -> None:
    cell = next(cell for cell in cells if cell.id == "add-check")
    cell.source = text
    cell.metadata.nbgrader.checksum = checksum(cell)


def test_a_test_cell_with_the_id_of_an_explore_cell_is_run(tiny: Path) -> None:
    def swap(cells: list[Any]) -> None:
        explore = next(cell for cell in cells if cell.metadata.get("labkit"))
        test = next(cell for cell in cells if cell.id == "add-check")
        explore.id, test.id = "cell-7", explore.id

    outcome = _given(tiny, "a", swap)
    assert (outcome.result.status, outcome.result.score) == (Status.GRADED, 5), outcome.result


def test_an_edited_test_with_its_checksum_computed_anew_is_noted(tiny: Path) -> None:
    outcome = _given(tiny, "a", lambda cells: _forged(cells, "2"))
    assert outcome.result.status == Status.TAMPERED
    assert outcome.result.messages == ("locked cell 'add-check' was changed: restored",)
    assert outcome.result.score == 5


def test_a_locked_cell_of_an_older_release_is_no_edit(tiny: Path) -> None:
    old = answered(tiny, **FULL)
    source = tiny / "source" / TINY / f"{TINY}.py"
    for _ in range(2):  # the release that the student has is two releases back
        source.write_text(source.read_text().replace('hint="use ', 'hint="use really '))
        list(release_labs(tiny, (TINY,)))
    hand_in(tiny, "a", old)
    assert grade(tiny)["a"].result.status == Status.GRADED
