"""Tests that run in the student's kernel: honest students get what nbgrader gives, and a patched kernel is noticed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from autograder.course import Course, open_course
from autograder.execution import Checks, Executor, canary
from autograder.execution.falsify import Falsified
from autograder.grading.lab_grading import Grading
from autograder.grading.outcome import Outcome
from autograder.grading.placement import Modes, find_modes, modules
from autograder.grading.scoring import score_notebook
from autograder.model import CellSpec, Limits, Status
from autograder.sandbox import choose
from autograder.submission.repair import parse, repair
from tests.redteam.oddities import ODDITIES
from tests.redteam.redlab import ALL as RED_POINTS
from tests.redteam.redlab import LAB as RED
from tests.redteam.redlab import hand_in as hand_in_red
from tests.redteam.redlab import red_course
from tests.system import compat_attacks
from tests.system.compat import ANSWERS, BLANK, HONEST, LAB, MAX, NOTEBOOKS, compat_course, hand_in
from tests.system.courses import autograder, copied, process

pytestmark = pytest.mark.slow

LIMITS = Limits(cell_time_s=4, total_time_s=20, output_kib=256)
EARN_NOTHING = {"showtraceback", "custom_exception", "excepthook", "ends_the_process", "ends_in_the_answer"}
"""Attempts that do not even earn points without canaries: the kernel's reply, or its end, tells of the error."""
LUCKY = {"equal_to_all"}
"""One check of each cell is made false: a value that equals all gets through where the draw meets another."""
KERNEL_ONLY = {
    "basics": {"in-place", "uses-squares", "mocked", "magics", "timed", "shell"},
    "numbers": {"printed", "asked"},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compat_course(tmp_path_factory.mktemp("compat"))


@pytest.fixture(scope="module")
def executor(made: Path) -> Iterator[Executor]:
    with Executor(choose(), modules(open_course(made), LAB)) as executor:
        yield executor


@pytest.fixture(scope="module")
def template(made: Path, executor: Executor) -> Path:
    """The course, and kept in it what the one trial of the instructor's notebook has found."""
    _modes(open_course(made), executor)
    return made


@pytest.fixture(scope="module")
def course(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course with what honest students hand in."""
    root = copied(template, tmp_path_factory.mktemp("honest"))
    for student, (answers, first) in HONEST.items():
        hand_in(root, student, answers, first)
    return root


@pytest.fixture(scope="module")
def outcomes(course: Path, executor: Executor) -> dict[str, Outcome]:
    grading = Grading(open_course(course), LAB, executor)
    return {outcome.result.student: outcome for outcome in grading.run(grading.students(), workers=2)}


def _modes(course: Course, executor: Executor) -> Modes:
    return find_modes(course, LAB, executor, course.limits, course.given_files(LAB))


# --------------------------------------------------------------------------------------------------------------- honest
def test_honest_students_get_in_every_cell_what_nbgrader_gives(
    course: Path, outcomes: dict[str, Outcome], tmp_path: Path
) -> None:
    stock = copied(course, tmp_path / "stock")
    for path in (stock / "gradebook.db", stock / "autograded"):
        assert path.exists()
    assert process("nbgrader", "autograde", LAB, "--force", cwd=stock).returncode == 0
    ours, theirs = (
        {stored.student: dict(stored.grades) for stored in open_course(root).scores(LAB)} for root in (course, stock)
    )
    assert ours == theirs
    assert {outcome.result.status for outcome in outcomes.values()} == {Status.GRADED}
    assert outcomes["full"].result.score == MAX
    assert len({outcome.result.score for outcome in outcomes.values()}) > 4


def test_what_can_run_apart_does_and_the_notes_say_what_cannot_and_why(
    course: Path, executor: Executor, outcomes: dict[str, Outcome]
) -> None:
    modes = _modes(open_course(course), executor)
    assert {name: set(checks.guarded) for name, checks in modes.checks.items()} == KERNEL_ONLY
    assert "partial" in modes.checks["numbers"].isolated
    why = "basics: 'uses-squares': in the student's kernel, watched; apart from it:"
    assert any(note.startswith(why) for note in modes.notes)
    assert "earlier-name" in modes.checks["basics"].isolated  # what the test above binds is bound in the kernel for it
    assert "squares-check" in modes.checks["basics"].isolated  # what it binds where students see it is there for others
    assert outcomes["full"].result.tests == "isolated and compat"


def test_the_instructors_notebook_is_tried_once(
    course: Path, executor: Executor, outcomes: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outcomes
    kept = course / f".autograder/{LAB}.modes.json"
    before = kept.read_bytes(), kept.stat().st_mtime_ns
    monkeypatch.setattr(Executor, "run", None)  # running anything would fail
    known = _modes(open_course(course), executor)
    assert {name: set(checks.guarded) for name, checks in known.checks.items()} == KERNEL_ONLY
    assert (kept.read_bytes(), kept.stat().st_mtime_ns) == before


def test_nobody_is_accused_for_a_false_check_that_is_true_of_the_instructors_answers(
    course: Path, executor: Executor, outcomes: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outcomes
    hand_in(course, "late", ANSWERS)
    monkeypatch.setattr(canary, "falsified", lambda source, *_: Falsified(source, "error"))
    grading = Grading(open_course(course), LAB, executor)
    (outcome,) = grading.run(grading.students(("late",)), workers=1)
    assert (outcome.result.status, outcome.result.score) == (Status.GRADED, MAX), outcome.result.messages


@pytest.mark.thorough  # a trial of its own, as the next
def test_a_wrong_solution_of_the_instructor_is_reported_once_for_all_its_tests(template: Path, tmp_path: Path) -> None:
    root = copied(template, tmp_path / "course")
    path = root / "source" / LAB / "basics.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = "1 / 0"
    nbformat.write(notebook, path)
    hand_in(root, "full", ANSWERS)
    done = autograder("grade", LAB, "--course", root)
    assert done.exit_code == 0
    assert "basics: trying which tests run apart from the instructor's own notebook, once a lab: run 1\n" in done.stderr
    notes = [line for line in done.stderr.splitlines() if "does not get full marks" in line]
    (undefined,) = [line for line in notes if "name 'squares' is not defined" in line]
    assert undefined.startswith("note: basics: 'magics', 'mocked', 'shell'") or "'squares-check'" in undefined
    assert "'squares-check'" in undefined and "'uses-squares'" in undefined
    assert done.stderr.count("'squares-check'") == 1
    assert open_course(root).score("full", LAB).score == MAX


_SWALLOW = """
def swallow(lines):
    return ["try:\\n", *("    " + line for line in lines), "except AssertionError:\\n", "    0\\n"]
get_ipython().input_transformers_post.append(swallow)
"""


@pytest.mark.thorough
def test_where_the_instructors_own_kernel_swallows_checks_nobody_is_taken_for_a_forger(
    template: Path, tmp_path: Path
) -> None:
    root = copied(template, tmp_path / "course")
    path = root / "source" / LAB / "basics.ipynb"
    notebook = nbformat.read(path, as_version=4)
    shell = next(cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id == "shell")
    shell.source = _SWALLOW
    notebook.cells[-1].source = "%%capture caught\nassert squares(5)[-1] == 25"
    nbformat.write(notebook, path)
    assert process("nbgrader", "generate_assignment", LAB, "--force", cwd=root).returncode == 0
    hand_in(root, "full", ANSWERS)
    done = autograder("grade", LAB, "--course", root, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["status"] == "graded"
    assert "basics: 'timed': in the student's kernel, not watched: a cell magic decides" in done.stderr


@pytest.mark.thorough
def test_no_honest_oddity_of_a_lab_in_compat_is_taken_for_a_forgery(tmp_path: Path) -> None:
    root = red_course(tmp_path)
    toml = root / "source" / RED / "lab.toml"
    toml.write_text('tests = "compat"\n' + toml.read_text())
    for name, oddity in ODDITIES.items():
        hand_in_red(root, name, oddity, {})
    course = open_course(root)
    with Executor(choose(), modules(course, RED)) as executor:
        grading = Grading(course, RED, executor)
        results = [outcome.result for outcome in grading.run(grading.students(), workers=2)]
    assert {result.student for result in results} == set(ODDITIES)
    assert {result.student for result in results if result.status != Status.GRADED} == set()
    assert {result.tests for result in results} == {"compat"}
    # In the student's kernel a star import hides the built-in sum from the test, in nbgrader as well.
    assert {result.student for result in results if result.score != RED_POINTS} == {"star_imports"}


# --------------------------------------------------------------------------------------------------------------- forged
@dataclass(frozen=True)
class Forgery:
    """What an attack earns where the kernel is watched, and how many cells were found forged."""

    watched: float
    forged: int


def _notebooks(root: Path, student: str) -> Mapping[str, tuple[nbformat.NotebookNode, list[CellSpec]]]:
    rows = open_course(root).notebooks(LAB)
    folder = root / "submitted" / student / LAB
    read = {name: parse((folder / f"{name}.ipynb").read_bytes(), name)[0] for name in NOTEBOOKS}
    return {name: (repair(notebook, rows[name]).notebook, rows[name]) for name, notebook in read.items()}


def _earned(executor: Executor, root: Path, student: str, *, watched: bool) -> tuple[float, int]:
    """Return the points of both notebooks with every test in the kernel, and how many cells were found forged."""
    points, forged = 0.0, 0
    for name, (notebook, rows) in _notebooks(root, student).items():
        tests = frozenset(row.grade_id for row in rows if row.automatic)
        checks = Checks(guarded=tests if watched else frozenset())
        execution = executor.run(notebook, limits=LIMITS, files={}, checks=checks)
        points += sum(score.points or 0 for score in score_notebook(name, execution, rows))
        forged += len(execution.forged)
    return points, forged


@pytest.fixture(scope="module")
def forgers(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with what they hand in, each with blank answers, and with nothing but those by one who is honest."""
    root = copied(template, tmp_path_factory.mktemp("forged"))
    hand_in(root, "honest", BLANK)
    for name, code in compat_attacks.ATTACKS.items():
        hand_in(root, name, BLANK, code)
    for name, answers in compat_attacks.ANSWERS.items():
        hand_in(root, name, {**BLANK, **answers})
    return root


def _each(executor: Executor, root: Path, *, watched: bool) -> dict[str, tuple[float, int]]:
    names = ["honest", *compat_attacks.ATTACKS, *compat_attacks.ANSWERS]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda name: _earned(executor, root, name, watched=watched), names)
        return dict(zip(names, found, strict=True))


@pytest.fixture(scope="module")
def forgeries(executor: Executor, forgers: Path) -> dict[str, Forgery]:
    return {name: Forgery(*found) for name, found in _each(executor, forgers, watched=True).items()}


def test_forgeries_earn_nothing_more_where_the_kernel_is_watched(forgeries: dict[str, Forgery]) -> None:
    honest = forgeries["honest"].watched
    assert {name for name, found in forgeries.items() if found.watched > honest} <= LUCKY


def test_a_kernel_that_forges_is_noticed(forgeries: dict[str, Forgery]) -> None:
    assert {name for name, found in forgeries.items() if not found.forged} == EARN_NOTHING | {"honest"}


@pytest.mark.thorough
def test_forgeries_are_real_where_nobody_watches(
    executor: Executor, forgers: Path, forgeries: dict[str, Forgery]
) -> None:
    naive = {name: points for name, (points, _) in _each(executor, forgers, watched=False).items()}
    more = {name for name, points in naive.items() if points > naive["honest"]}
    # Two values: nbgrader takes the first of them, we none.
    assert set(naive) - more - {"honest"} == EARN_NOTHING | {"invents"}
    assert all(forgeries[name].watched <= naive[name] - 2 for name in LUCKY)


def test_a_forger_is_recorded_as_tampered_and_the_cells_earn_nothing(template: Path, tmp_path: Path) -> None:
    root = copied(template, tmp_path / "course")
    hand_in(root, "forger", BLANK, compat_attacks.ATTACKS["counts"])
    done = autograder("grade", LAB, "--course", root, "--json")
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert result["status"] == "tampered"
    assert "cell 'uses-squares': a check that must fail did not: the kernel was tampered with" in result["messages"]
    grades = open_course(root).score("forger", LAB).grades
    assert [grades[f"basics/{name}"] for name in ("uses-squares", "earlier-name")] == [0, 0]


# ------------------------------------------------------------------------------------------------- nbgrader's autograde
_OURS = (
    "from autograder.nbgrader_hooks import autograde_preprocessors\n"
    "c.Autograde.autograde_preprocessors = autograde_preprocessors()\n"
)


def test_nbgraders_autograde_with_our_step_gives_its_points_and_notices_forgers(
    template: Path, outcomes: dict[str, Outcome], tmp_path: Path
) -> None:
    root = copied(template, tmp_path / "course")
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(_OURS)
    for student in ("full", "some-totals", "debugs"):
        hand_in(root, student, *HONEST[student])
    for name in ("run_code", "invents"):
        hand_in(root, name, BLANK, compat_attacks.ATTACKS[name])
    hand_in(root, "dies", compat_attacks.ANSWERS["ends_in_the_answer"] | {"greet": ANSWERS["greet"]})
    hand_in(root, "skips", BLANK)
    _skip_all(root / "submitted/skips" / LAB)
    done = process("nbgrader", "autograde", LAB, cwd=root)
    assert done.returncode == 0, done.stderr
    scores = {stored.student: stored.score for stored in open_course(root).scores(LAB)}
    expected = {student: outcomes[student].result.score for student in ("full", "some-totals", "debugs", "blank")}
    assert scores == {
        **{student: expected[student] for student in ("full", "some-totals", "debugs")},
        "run_code": 0,
        "invents": 1,
        "dies": 0,
        "skips": expected["blank"],
    }
    assert "basics: cell 'earlier-name': a check that must fail did not: the kernel was tampered with" in done.stderr


def _skip_all(folder: Path) -> None:
    for path in folder.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.metadata["tags"] = ["skip-execution"]
        nbformat.write(notebook, path)
