"""nbgrader itself, on our labs: the same points for honest work, and all of its tools see the same gradebook."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.commands.demo import CONFIG, LAB, handed_in, make_course
from autograder.course import open_course
from autograder.grading.outcome import Outcome
from autograder.markers import EXPLORE
from autograder.release.answers import find_variants, put_answers
from autograder.release.build import build, find_labs
from autograder.release.publish import release_labs
from autograder.release.source import read_source
from autograder.sandbox import choose
from tests.extent import ALL
from tests.system.courses import copied, grade, process

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HONEST = ("another_way", "blank", "full_marks", "half_done", "mistake_no_mean", "mistake_transposed")
HALF = ("half_done", "mistake_no_mean", "mistake_transposed")
WHOLE = "full_marks"
"""In `make test-all` stock nbgrader runs the long explore cells of this submission; all others have deleted theirs."""
STOCK = CONFIG.replace("hand_over(c)\n", "")
"""The demo's configuration, but that nbgrader's commands are its own."""
Points = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's course with its honest submissions, not yet graded."""
    root = tmp_path_factory.mktemp("honest") / "course"
    make_course(ROOT / "solutions" / LAB, root)
    (root / "nbgrader_config.py").write_text(STOCK)
    for folder in (root / "submitted").iterdir():
        if folder.name not in HONEST:
            shutil.rmtree(folder)
        elif folder.name != WHOLE or not ALL:
            _delete_explore_cells(folder / LAB / f"{LAB}.ipynb")
    return root


def _delete_explore_cells(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith(EXPLORE)]
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(template, tmp_path_factory.mktemp("ours") / "course")


@pytest.fixture(scope="module")
def outcomes(course: Path) -> dict[str, Outcome]:
    found = grade(course, lab=LAB)
    assert not {student: outcome.result.messages for student, outcome in found.items() if not outcome.result.cells}
    return found


def _points(root: Path, lab: str = LAB) -> Points:
    return {stored.student: dict(stored.grades) for stored in open_course(root).scores(lab)}


def _nbgrader(root: Path, *arguments: str) -> str:
    done = process("nbgrader", *arguments, cwd=root)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_stock_autograde_gives_the_same_points_in_every_cell(
    template: Path, course: Path, outcomes: dict[str, Outcome], tmp_path: Path
) -> None:
    """The gradebook comes from `autograder release`."""
    stock = copied(template, tmp_path / "stock")
    _nbgrader(stock, "autograde", LAB)
    assert sorted(outcomes) == sorted(HONEST)
    assert _points(stock) == _points(course)
    scores = {student: outcome.result.score for student, outcome in outcomes.items()}
    assert scores["blank"] == 0 < scores["half_done"] < scores["full_marks"] == scores["another_way"] == 16
    assert scores["mistake_no_mean"] < 16 > scores["mistake_transposed"]


@pytest.mark.thorough
def test_so_it_does_with_a_gradebook_that_nbgrader_generated(
    template: Path, course: Path, outcomes: dict[str, Outcome], tmp_path: Path
) -> None:
    assert outcomes
    stock = copied(template, tmp_path / "stock")
    (stock / "gradebook.db").unlink()
    shutil.rmtree(stock / "release")
    for student in set(HONEST) - set(HALF):
        shutil.rmtree(stock / "submitted" / student)
    _nbgrader(stock, "generate_assignment", LAB)
    _nbgrader(stock, "autograde", LAB)
    expected = _points(course)
    assert _points(stock) == {student: expected[student] for student in HALF}


_OTHERS = [lab.name for lab in find_labs(ROOT / "solutions") if lab.name != LAB]
_SOME = [lab for lab in _OTHERS if lab in {"02_frameworks", "11_collectives"}]


@pytest.mark.thorough
@pytest.mark.parametrize("lab", _OTHERS if ALL else _SOME)
def test_stock_autograde_agrees_on_every_other_lab(lab: str, tmp_path: Path) -> None:
    """On the first wrong answer of a solved notebook without its explore cells, where one check fails and others pass.

    `make test` asks of one lab with both frameworks and of one with ranks. `make test-all` asks of all, and adds the
    solved one itself, a blank one, and another right answer.
    """
    root = tmp_path / "course"
    shutil.copytree(ROOT / "solutions" / lab, root / "source" / lab, ignore=shutil.ignore_patterns("cards"))
    (root / "nbgrader_config.py").write_text(f"{STOCK}c.Execute.timeout = 240\n")  # starting two frameworks takes time
    list(release_labs(root, (lab,)))
    release = build(root / "source" / lab)
    blank = nbformat.reads(release.files[f"{lab}.ipynb"].decode(), as_version=4)
    submissions = {"blank": blank, "solved": handed_in(release.source_notebook, blank)} if ALL else {}
    for name in ("right", "wrong") if ALL else ("wrong",):
        notebook = submissions[name] = handed_in(release.source_notebook, blank)
        put_answers(notebook, find_variants(root / "source" / lab, name)[0])
    for student, notebook in submissions.items():
        path = root / "submitted" / student / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        _delete_explore_cells(path)
    stock = copied(root, tmp_path / "stock")
    assert process("autograder", "grade", lab, cwd=root).returncode == 0
    _nbgrader(stock, "autograde", lab)
    points = _points(root, lab)
    assert _points(stock, lab) == points
    scores = {student: sum(points[student].values()) for student in submissions}
    full = sum(cell.points for cell in read_source(root / "source" / lab).cells if cell.test and cell.points)
    assert 0 < scores["wrong"] < full
    if ALL:
        assert (scores["blank"], scores["right"], scores["solved"]) == (0, full, full)


_API = """
import json, sys
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
lab = sys.argv[1]
api = NbGraderAPI(coursedir=CourseDirectory(root=".", course_id="demo"))
keys = ("score", "max_score", "needs_manual_grade")
print(json.dumps({s["student"]: [s[key] for key in keys] for s in api.get_submissions(lab)}))
"""


def test_formgraders_interface_sees_the_same_numbers(course: Path, outcomes: dict[str, Outcome]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _API, LAB], cwd=course, capture_output=True, check=True
    )
    assert json.loads(done.stdout) == {
        student: [outcome.result.score, outcome.result.max_score, outcome.to_grade > 0]
        for student, outcome in outcomes.items()
    }


def test_stock_feedback_shows_our_points(course: Path, outcomes: dict[str, Outcome], tmp_path: Path) -> None:
    assert outcomes
    copy = copied(course, tmp_path / "course")
    _nbgrader(copy, "generate_feedback", LAB, "--student", "mistake_transposed")
    page = (copy / "feedback/mistake_transposed" / LAB / f"{LAB}.html").read_text()
    score = outcomes["mistake_transposed"].result.score
    assert f"(Score: {score:g} / 20.0)" in page or f"(Score: {score} / 20.0)" in page


def test_validate_tells_a_blank_notebook_from_a_solved_one(template: Path, tmp_path: Path) -> None:
    for student, words in (
        ("blank", "not implemented yet"),
        ("another_way", "Success! Your notebook passes all the tests"),
    ):
        path = tmp_path / f"{student}.ipynb"
        shutil.copyfile(template / "submitted" / student / LAB / f"{LAB}.ipynb", path)
        assert words in _nbgrader(tmp_path, "validate", path.name)


# ------------------------------------------------------------------------------------------------ the repository's root
@pytest.fixture(scope="module")
def checkout(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository as git would check it out, released; one student has handed in, and a spy."""
    copy = tmp_path_factory.mktemp("checkout")
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().splitlines():
        if name.startswith(("solutions/", "labs/", "nbgrader_config.py")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    assert process("autograder", "release", LAB, "--skip-solution", cwd=copy).returncode == 0
    shutil.copytree(template / "submitted/half_done" / LAB, copy / "submitted/half_done" / LAB)
    notebook = nbformat.read(template / "submitted/half_done" / LAB / f"{LAB}.ipynb", as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_SPY.format(course=str(copy), lab=LAB)))
    path = copy / "submitted/spy" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    return copy


@pytest.fixture(scope="module")
def graded(checkout: Path) -> Path:
    done = process("autograder", "grade", LAB, cwd=checkout)
    assert done.returncode == 0, done.stderr
    return checkout


def test_nothing_of_the_solutions_is_copied_beside_a_submission(graded: Path) -> None:
    folder = graded / "autograded/half_done" / LAB
    assert _files(folder) == {f"{LAB}.ipynb"} | _FIGURES


_FIGURES = {f"figures/{path.name}" for path in (ROOT / "labs" / LAB / "figures").iterdir()}


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.skipif(not choose().isolated, reason="no bubblewrap here: student code can read what the grader can")
def test_nothing_of_the_solutions_can_be_read_by_student_code(graded: Path) -> None:
    executed = nbformat.read(graded / "autograded/spy" / LAB / f"{LAB}.ipynb", as_version=4)
    assert "".join(output.get("text", output.get("evalue", "")) for output in executed.cells[0].outputs) == "[]\n"


def test_nbgraders_own_commands_make_what_ours_do(graded: Path) -> None:
    path = graded / "labs" / LAB / f"{LAB}.ipynb"
    ours = json.loads(path.read_text())
    _nbgrader(graded, "generate_assignment", LAB, "--force")
    assert json.loads(path.read_text()) == ours
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, "figures"]
    _nbgrader(graded, "autograde", LAB, "--student", "half_done", "--force")
    assert _files(graded / "autograded/half_done" / LAB) == {f"{LAB}.ipynb"} | _FIGURES


_SPY = """
import os, labkit
repository = os.path.dirname(os.path.dirname(labkit.__file__))
roots = [os.path.join(top, name) for top in ({course!r}, repository) for name in
         ("solutions", "gradebook.db", "submitted", "autograded", "labs", "autograder/grading/grade_one.py",
          "autograder/course", ".autograder")]
found = [root for root in roots if os.path.exists(root)]
for top in ("/tmp", "/home", "/root", repository):
    for folder, _, names in os.walk(top):
        if "site-packages" in folder:
            continue  # nbgrader's own tests have a gradebook
        found += [os.path.join(folder, name) for name in names if name in ({lab!r} + ".py", "lab.toml", "gradebook.db")]
print(found)
"""
