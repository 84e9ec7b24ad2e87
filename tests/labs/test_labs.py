"""The five properties of every lab, and what its prose and cells must look like."""

from __future__ import annotations

import copy
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.execution import Execution, Executor, preloads
from autograder.grading.checks import checks_of
from autograder.grading.scoring import score_notebook
from autograder.grading.secrets import beside_hidden
from autograder.markers import EXPLORE
from autograder.model import CellScore, CellSpec
from autograder.proof import Prepared
from autograder.release.answers import Variant, find_variants, put_answers
from autograder.release.build import Release, build, find_labs
from autograder.release.source import read_source
from autograder.sandbox import choose
from labkit._check_report import Case, Score
from tests.extent import ALL
from tests.labs.rows import rows_of
from tests.labs.together import Answer, answer_of, groups, notebook_of

ROOT = Path(__file__).parents[2]
LABS = find_labs(ROOT / "solutions")


_TRIED = 3
"""So many wrong answers of a check are tried at each change, two of them by the grader."""


def _answers(kind: str, lab: Path) -> dict[str, list[Variant]]:
    """Return the answers of a lab: by the grader, in forks, or before a release.

    The grader runs two wrong ones a check and one right one a lab, several in one notebook. The others are tried in
    forks of a process that has run the lab, without sandbox and boundary, and wrong ones only against the checks that
    they name; one more a check, and the rest before a release: `make test-all` takes every answer through the grader
    by itself, and all its checks.
    """
    counts: Counter[str] = Counter()
    found: dict[str, list[Variant]] = {"grader": [], "forks": [], "release": []}
    for variant in find_variants(lab, kind):
        checks = variant.fails or ("right",)
        if ALL or any(counts[check] < (2 if variant.fails else 1) for check in checks):
            found["grader"].append(variant)
        elif all(counts[check] >= _TRIED for check in checks):
            found["release"].append(variant)
        else:
            found["forks"].append(variant)
        counts.update(checks)
    return found


def _params(kind: str, how: str) -> list[Any]:
    found = [(lab, variant) for lab in LABS for variant in _answers(kind, lab)[how]]
    return [pytest.param(lab, variant, id=f"{lab.name}-{variant.name}") for lab, variant in found]


WRONG, RIGHT = _params("wrong", "grader"), _params("right", "grader")
FORKED = _params("wrong", "forks") + _params("right", "forks")
every_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


def _at_each_change(lab: Path) -> Any:
    """Return a lab, to be tried before a release only, if it is not one of the first two."""
    first = lab in LABS[:2]
    return pytest.param(lab, id=lab.name, marks=() if first else pytest.mark.thorough)


@cache
def _release(lab: Path) -> Release:
    return build(lab)


def _instructor(lab: Path) -> nbformat.NotebookNode:
    return nbformat.reads(_release(lab).source_notebook.decode(), as_version=4)


def _student(lab: Path) -> nbformat.NotebookNode:
    return nbformat.reads(_release(lab).files[f"{lab.name}.ipynb"].decode(), as_version=4)


def _rows(lab: Path) -> list[CellSpec]:
    return rows_of(read_source(lab))


_EXECUTORS: dict[tuple[str, ...], Executor] = {}
_PREPARED: dict[Path, Prepared] = {}


def _executor(modules: tuple[str, ...]) -> Executor:
    if modules not in _EXECUTORS:
        _EXECUTORS[modules] = Executor(choose(), modules)
    return _EXECUTORS[modules]


@pytest.fixture(scope="module", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    while _EXECUTORS:
        _EXECUTORS.popitem()[1].close()
    while _PREPARED:
        _PREPARED.popitem()[1].close()


def _run(lab: Path, notebook: nbformat.NotebookNode, *, explore: bool = False) -> Execution:
    source = read_source(lab)
    ids = {cell.id for cell in notebook.cells if cell.metadata.get("labkit", {}).get("explore")}
    executor = _executor(preloads((cell.source for cell in source.cells), source.lab.frameworks))
    checks = checks_of(_rows(lab))
    limits = source.lab.limits
    if explore:  # the limits are for grading; this is the whole lab, perhaps beside another one on a busy machine
        limits = replace(limits, cell_time_s=3 * limits.cell_time_s, total_time_s=4 * limits.total_time_s)
    return executor.run(notebook, limits=limits, files={}, explore=() if explore else ids, checks=checks)


def _scores(lab: Path, notebook: nbformat.NotebookNode) -> dict[str, CellScore]:
    execution = _run(lab, notebook)
    assert execution.complete, execution.problems
    return _scores_of(lab, execution)


def _scores_of(lab: Path, execution: Execution) -> dict[str, CellScore]:
    scores = score_notebook(lab.name, execution, _rows(lab))
    return {score.grade_id: score for score in scores if score.points is not None}


def _outcome(lab: Path, variant: Variant) -> dict[str, CellScore]:
    """Return the scores of the checks that can see what the variant changes; another test is about all of them.

    `make test` runs it beside other answers which those checks do not see; what surprises there is run alone.
    """
    answer = answer_of(_instructor(lab), variant)
    if not ALL:
        found = _seen(_scores_together(lab)[variant], answer)
        if sorted(_lost(found)) == sorted(variant.fails):
            return found
    return _seen(_scores(lab, notebook_of(_instructor(lab), [answer])), answer)


@cache
def _scores_together(lab: Path) -> dict[Variant, dict[str, CellScore]]:
    """Return by answer the scores of the run of its group."""
    whole = _instructor(lab)
    answers = [answer_of(whole, v) for kind in ("wrong", "right") for v in _answers(kind, lab)["grader"]]
    return {
        answer.variant: scores
        for group in groups(whole, answers)
        for scores in [_scores_of(lab, _run(lab, notebook_of(whole, group)))]
        for answer in group
    }


def _seen(scores: dict[str, CellScore], answer: Answer) -> dict[str, CellScore]:
    return {grade_id: score for grade_id, score in scores.items() if grade_id in answer.seen}


def _lost(scores: dict[str, CellScore]) -> dict[str, str]:
    return {s.grade_id: f"{s.points:g} of {s.max_points:g} {s.message} {[c for c in s.cases if not c['passed']]}"
            for s in scores.values() if s.points != s.max_points}  # fmt: skip


# ------------------------------------------------------------------------------------------------- the five properties
@every_lab
def test_the_whole_solution_runs_without_an_error_and_earns_full_marks(lab: Path) -> None:
    execution = _run(lab, _instructor(lab), explore=True)
    assert execution.complete, execution.problems
    outputs = [(cell.id, o) for cell in execution.notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    assert not [(i, o.ename, o.evalue) for i, o in outputs if o.output_type == "error"]
    assert not [(i, o.text) for i, o in outputs if o.output_type == "stream" and o.name == "stderr"]
    scores = score_notebook(lab.name, execution, _rows(lab))
    checks = {s.grade_id: s for s in scores if s.points is not None}
    assert not _lost(checks)
    # Who answers the visible cases by a table, which the tests tell word by word, has at most half of that.
    assert sum(map(_of_visible_cases, checks.values())) <= sum(s.max_points for s in checks.values()) / 2


def _of_visible_cases(score: CellScore) -> float:
    cases = [Case(**case | {"passed": not case["hidden"]}) for case in score.cases]
    return Score(score.max_points, tuple(cases)).points


@every_lab
def test_the_released_notebook_earns_nothing_and_fails_only_for_what_is_not_implemented(lab: Path) -> None:
    tests = {cell.id: cell.source for cell in _instructor(lab).cells}
    notebook = _student(lab)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.source = tests[cell.id]  # hidden tests as well
    scores = _scores(lab, notebook)
    assert {s.grade_id: s.points for s in scores.values() if s.points} == {}
    begun = [(s.grade_id, s.cases) for s in scores.values() if s.cases and not s.not_begun]
    assert not begun


@pytest.mark.parametrize(("lab", "variant"), WRONG)
def test_a_wrong_answer_fails_the_check_it_names_and_only_that(lab: Path, variant: Variant) -> None:
    scores = _outcome(lab, variant)
    lost = _lost(scores)
    assert sorted(lost) == sorted(variant.fails), lost
    assert not [lost[check] for check in variant.nothing if scores[check].points]


@pytest.mark.parametrize(("lab", "variant"), RIGHT)
def test_another_right_answer_earns_full_marks(lab: Path, variant: Variant) -> None:
    assert not _lost(_outcome(lab, variant))


@pytest.mark.parametrize(("lab", "variant"), FORKED)
def test_an_answer_loses_what_it_names(lab: Path, variant: Variant) -> None:
    if lab not in _PREPARED:
        source = read_source(lab)
        modules = preloads((cell.source for cell in source.cells), source.lab.frameworks)
        limits = source.lab.limits
        time_s, memory_mib = limits.total_time_s, limits.memory_mib
        _PREPARED[lab] = Prepared(_instructor(lab), modules, time_s=time_s, memory_mib=memory_mib)
    process, notebook = _PREPARED[lab], put_answers(_instructor(lab), variant)
    if variant.nothing or not variant.fails:
        outcomes = process.outcomes(notebook, only=variant.fails or None)
    else:  # a check that has lost one case has lost a point: the others, which may launch ranks, are not asked
        outcomes = {}
        for check in variant.fails:
            outcomes |= process.outcomes(notebook, only=[check], first=True)
    lost = {grade_id: outcome for grade_id, outcome in outcomes.items() if not outcome.full}
    assert sorted(lost) == sorted(variant.fails), lost
    assert not [lost[check] for check in variant.nothing if lost[check].points]


@every_lab
def test_no_solution_or_hidden_line_is_in_the_committed_lab(lab: Path) -> None:
    committed = (ROOT / "labs" / lab.name / f"{lab.name}.ipynb").read_text(encoding="utf-8")
    published = {
        line.strip() for cell in nbformat.reads(committed, as_version=4).cells for line in cell.source.split("\n")
    }
    secret = {line.strip() for cell in read_source(lab).cells for line in cell.removed() if len(line.strip()) >= 32}
    assert secret
    assert not {line for line in secret & published if not line.startswith(("import ", "from "))}
    assert not {word for word in ("BEGIN SOLUTION", "BEGIN HIDDEN") if word in committed}
    assert "hidden_case" not in committed


# -------------------------------------------------------------------------------------------- what a lab must look like
@every_lab
def test_every_graded_task_has_at_least_three_wrong_answers_and_the_lab_a_right_one(lab: Path) -> None:
    caught = [check for variant in find_variants(lab, "wrong") for check in variant.fails]
    checks = [cell.grade_id for cell in read_source(lab).cells if cell.test]
    assert {check: caught.count(check) for check in checks if caught.count(check) < 3} == {}
    assert find_variants(lab, "right")


@every_lab
def test_two_builds_are_byte_identical(lab: Path) -> None:
    assert build(lab) == build(lab)


@every_lab
def test_students_are_told_every_visible_case(lab: Path) -> None:
    """Of a test that reads what hidden lines of another have made, none is told."""
    assert beside_hidden(_rows(lab)) == frozenset()


@every_lab
def test_prose_and_code_cells_are_short(lab: Path) -> None:
    own = lab / "ruff.toml"  # formats the lab to fewer columns, in which comments and texts are to stay as well
    width = tomllib.loads(own.read_text())["line-length"] if own.exists() else 100
    for cell in read_source(lab).cells:
        if cell.cell_type == "markdown" and not cell.grade:
            words = len(re.sub(r"\$[^$]*\$|`[^`]*`|!\[.*?\)", "x", cell.source).split())
            assert words <= 150, f"line {cell.line}: {words} words"
        elif cell.explore:
            assert len(cell.lines) <= 30, f"line {cell.line}: {len(cell.lines)} lines"
        for line in cell.lines if cell.cell_type == "code" else []:
            assert len(line) <= width, f"line {cell.line}: {line}"


@every_lab
def test_every_written_task_has_a_model_answer_and_a_rubric(lab: Path) -> None:
    written = [cell for cell in read_source(lab).cells if cell.cell_type == "markdown" and cell.solution]
    assert written, "a lab asks for a text"
    for cell in written:
        answer, _, rubric = cell.source.partition("**Model answer")[2].partition("**Rubric")
        assert len(answer.split()) >= 60, cell.grade_id
        assert "point" in rubric, cell.grade_id


@every_lab
def test_students_receive_no_outputs_and_know_which_cells_are_theirs(lab: Path) -> None:
    for cell in _student(lab).cells:
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.source.startswith(EXPLORE) == bool(cell.metadata.get("labkit", {}).get("explore"))


@pytest.mark.parametrize("lab", [_at_each_change(lab) for lab in LABS])
def test_a_half_finished_notebook_gets_the_points_of_its_finished_half(lab: Path) -> None:
    solution, student = _instructor(lab), _student(lab)
    tasks = [c for c in read_source(lab).cells if c.solution and c.cell_type == "code"]
    first = tasks[0].grade_id
    notebook = copy.deepcopy(solution)
    stubs = {cell.id: cell.source for cell in student.cells}
    for cell in notebook.cells:
        if cell.id in {task.grade_id for task in tasks} - {first}:
            cell.source = stubs[cell.id]
    scores = _scores(lab, notebook)
    assert scores[next(iter(scores))].points == scores[next(iter(scores))].max_points
    assert len(tasks) == 1 or _lost(scores)
