"""Runs and scores one submission without touching the database; what goes wrong here is that submission's alone."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import Course
from autograder.errors import SandboxError, SubmissionError, in_one_line
from autograder.execution import Checks, Execution, Executor, mark_not_run
from autograder.execution.time_limit import a_few_times
from autograder.grading.along import hiding
from autograder.grading.attempt import Attempt, used_up
from autograder.grading.failure import explain
from autograder.grading.mark_schemes import mark_schemes, put_beside
from autograder.grading.placement import Modes, find_modes
from autograder.grading.redefined import MadeOf, made_of, redefined, say_redefined
from autograder.grading.scoring import score_notebook
from autograder.grading.second_look import About, second_look
from autograder.grading.solution import instructors_cells, own_answers
from autograder.markers import EXPLORE
from autograder.model import CellScore, CellSpec, Lab, Limits
from autograder.notebook import grade_id_of, metadata_of, to_explore
from autograder.records.fingerprint import fingerprint
from autograder.records.versions import Texts, handed_out
from autograder.submission.handin import Handin
from autograder.submission.repair import parse, put_aside, repair
from autograder.submission.sanitize_prose import make_harmless
from autograder.submission.unfit import NO_METADATA, cells_of_others, unfit

__all__ = ["Setup", "attempt", "prepare"]

_WANTED = {NO_METADATA: "hand in the file that JupyterLab saves"}
_NOT_RUN = "[not run when grading, and not one of the lab's cells to explore: the output handed in is left out]\n"
_LATE = "tests were run once more in one process with this code, which took much longer there and was stopped"
_Scored = tuple[Execution, list[CellScore]]


@dataclass(frozen=True)
class Setup:
    """What every submission of a lab is run with."""

    executor: Executor
    rows: Mapping[str, Sequence[CellSpec]]
    """The cells of each notebook, as the gradebook knows them."""
    limits: Limits
    explore: frozenset[str]
    """Ids of cells that are not run, known from the instructor's notebooks and never from a student's."""
    given: Mapping[str, Path]
    """The instructor's files that stand beside every notebook."""
    modes: Modes
    """Where the test cells of each notebook run."""
    others: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The grade_ids of the course's other labs."""
    foreign: bool = False
    """The lab is not one of this kit's: its tests were written to run in one process with what they test."""
    texts: Texts = field(default_factory=dict)
    """What locked cells were handed out with."""
    solutions: Mapping[str, Path] = field(default_factory=dict)
    """The instructor's notebooks."""
    prose: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The instructor's own texts in each notebook: shown as they are, which a student's are not."""
    schemes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What the instructor's own answers to what a person grades are, for that person: by notebook and grade_id."""
    pictures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The attachments of the instructor's cells, by notebook and grade_id."""

    @property
    def max_score(self) -> float:
        return sum(row.points for rows in self.rows.values() for row in rows)

    @cached_property
    def _given_content(self) -> list[tuple[str, bytes]]:
        return [(f"given/{name}", path.read_bytes()) for name, path in self.given.items()]

    def fingerprint(self, handin: Handin) -> str:
        """Return a hash of everything that the grade of this submission depends on."""
        skipped = ("explore", " ".join(sorted(self.explore)).encode())
        checks = {name: (sorted(c.isolated), sorted(c.guarded), *_names_of(c)) for name, c in self.modes.checks.items()}
        modes = ("modes", repr(checks).encode())
        found = self.modes.lowered.items()
        lowered = [(f"lowered/{name}", " ".join(sorted(some)).encode()) for name, some in found if some]
        believed = [(f"believed/{name}", repr(_sorted(some)).encode()) for name, some in self.modes.believed.items()]
        content = [*handin.content(), *self._given_content, skipped, modes, *lowered, *believed]
        return fingerprint(content, dict(self.rows), self.limits, self.executor.sandbox.name)

    @cached_property
    def made_of(self) -> Mapping[str, MadeOf]:
        """Return what each test of a notebook uses of locked cells: see redefined."""
        return {
            name: made_of({row.grade_id: row.source for row in rows if row.automatic}, self.modes.checks[name])
            for name, rows in self.rows.items()
        }

    def about(self, name: str, changed: Mapping[str, frozenset[str]]) -> About:
        """Return what a second look has to know of the tests of this notebook. changed: see About.redefined."""
        lowered = self.modes.lowered.get(name, frozenset())
        return About(hiding(self.rows[name]), lowered, self.modes.believed.get(name), changed)

    def solution(self, name: str) -> nbformat.NotebookNode | None:
        """Return the instructor's own answers to this notebook; None where there are none."""
        return own_answers(self.solutions[name], self.rows[name]) if name in self.solutions else None


def _names_of(checks: Checks) -> list[object]:
    """Return whose the names of locked cells are, in one order."""
    sets = [_sorted(each) for each in (checks.again, checks.live, checks.kept)]
    some = [sorted(checks.theirs), sorted(checks.wide), sorted(checks.nothing or ())]
    return [sorted(checks.levels.items()), *some, *sets]


def _sorted(sets: Mapping[str, frozenset[str]]) -> list[tuple[str, list[str]]]:
    return sorted((name, sorted(names)) for name, names in sets.items())


def prepare(course: Course, lab: str, executor: Executor, say: Callable[[str], None] = lambda _line: None) -> Setup:
    """Return what is needed to run submissions of this lab; raise CourseError if it was not released.

    say: is told what takes long.
    """
    folder = course.source(lab)
    rows = course.notebooks(lab)
    cells = {name: instructors_cells(folder / f"{name}.ipynb") for name in rows}
    ours = (folder / "lab.toml").exists()
    limits = Lab.read(folder).limits if ours else course.limits
    given = course.given_files(lab)
    return Setup(
        executor=executor,
        rows=rows,
        limits=limits,
        explore=frozenset(cell.id for own in cells.values() for cell in own if to_explore(cell)),
        given=given,
        modes=find_modes(course, lab, executor, limits, given, say),
        others=cells_of_others(course, lab),
        foreign=not ours,
        texts=handed_out(course, lab, rows),
        solutions={name: folder / f"{name}.ipynb" for name in rows},
        prose={
            name: frozenset(cell.source for cell in [*own, *rows[name]] if cell.cell_type == "markdown")
            for name, own in cells.items()
        },
        schemes={name: mark_schemes(course, own, rows[name]) for name, own in cells.items()},
        pictures={
            name: {grade_id_of(c): c.attachments for c in own if c.get("attachments")} for name, own in cells.items()
        },
    )


def attempt(setup: Setup, handin: Handin) -> Attempt:
    """Run the notebooks in the sandbox and score them."""
    setup.executor.warm()
    box = setup.executor.sandbox
    result = Attempt(handin, messages=list(handin.notes), sandbox=box.walls or box.name, isolated=box.isolated)
    result.tossed = any(checks.guarded for checks in setup.modes.checks.values())
    started = time.monotonic()
    try:
        for name in setup.rows:
            execution, scores = _run(setup, result, name)
            result.notebooks[name] = execution.notebook
            result.cells += scores
            make_harmless(execution.notebook, setup.prose.get(name, frozenset()))
            put_beside(execution.notebook, setup.schemes.get(name, {}))
    except Exception as error:  # an error of ours must not stop the class
        result.failure = explain(error)
        result.hindered = used_up(error)
        result.starved = result.starved or isinstance(error, SandboxError)  # it had waited for the machine
    result.ended(time.monotonic() - started)
    return result


def _run(setup: Setup, result: Attempt, name: str) -> _Scored:
    """Run and score this notebook; of one that cannot be read return a blank one, the reason in its graded cells."""
    rows, handin = setup.rows[name], result.handin
    try:
        if name in handin.problems:
            raise SubmissionError(handin.problems[name])
        if name not in handin.notebooks:
            result.messages.append(f"{name}.ipynb: not handed in")
            return _blank(name, rows, "not handed in")
        notebook, notes = parse(handin.notebooks[name], f"{name}.ipynb")
        if reason := unfit(notebook, [row.grade_id for row in rows], setup.others):
            return _aside(result, name, notebook, rows, reason)
        repaired = repair(notebook, rows, setup.texts.get(name), setup.pictures.get(name))
    except SubmissionError as error:
        result.unreadable = True
        result.messages.append(in_one_line(error))
        return _blank(name, rows, in_one_line(error))
    result.tampered = result.tampered or bool(repaired.tampered)
    where = f"{name}: " if len(setup.rows) > 1 else ""
    result.messages += [*notes, *(f"{where}{words}" for words in (*repaired.notes, *repaired.tampered))]
    skipped = _without_outputs(repaired.notebook, setup.explore)
    solution = partial(setup.solution, name)
    files, beside = {**handin.files, **setup.given}, setup.given
    execute = partial(setup.executor.run, files=files, explore=skipped, solution=solution, beside=beside)

    def run(checks: Checks, *, limits: Limits = setup.limits) -> _Scored:
        book = copy.deepcopy(repaired.notebook)
        found = execute(book, limits=limits, checks=checks)
        return found, score_notebook(name, found, rows)

    execution, scores = run(setup.modes.checks[name])
    result.note(execution)
    lost = [score for score in scores if score.lost]
    changed = redefined(repaired.notebook, setup.made_of[name]) if lost else {}
    if setup.foreign:
        return execution, _looked_again(setup, result, name, (execution, scores), run, changed)
    result.notes += [say_redefined(score, changed[score.grade_id]) for score in lost if score.grade_id in changed]
    return execution, scores


def _without_outputs(notebook: nbformat.NotebookNode, explore: frozenset[str]) -> set[str]:
    """Return the cells that are not run: the instructor's to explore keep what they showed, others show what is known.

    Of a cell that is run, what it puts out now is what counts; of one that is not, nobody knows what it was.
    """
    own = {cell.id for cell in notebook.cells if _explores(cell, explore)}
    skipped = own | {cell.id for cell in notebook.cells if _calls_itself_explore(cell)}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id not in own:
            cell.outputs = [nbformat.v4.new_output("stream", text=_NOT_RUN)] if cell.id in skipped else []
    return skipped


def _looked_again(
    setup: Setup,
    result: Attempt,
    name: str,
    first: _Scored,
    run: Callable[..., _Scored],
    changed: Mapping[str, frozenset[str]],
) -> list[CellScore]:
    """Return the scores that count after a second look, which takes a few times as long as the first run at most.

    changed: see About.redefined.
    """
    execution, scores = first
    limits = a_few_times(setup.limits, execution.computed_s, execution.waited_s)
    looks: list[Execution] = []

    def again(checks: Checks) -> _Scored:
        found, others = run(checks, limits=limits)
        looks.append(found)
        result.tossed = result.tossed or bool(checks.guarded)
        return found, others

    about = setup.about(name, changed)
    counted, said = second_look(execution, scores, setup.modes.checks[name], again, about)
    result.notes += said
    result.starved = result.starved or any(look.starved for look in looks)
    if any(look.late for look in looks):
        result.messages.append(f"{name}: {_LATE}" if len(setup.rows) > 1 else _LATE)
    # Of what counts from a second look the message says just that: who grades reads its error, too.
    return [s if s in scores or not s.whole else replace(s, whole=f"{s.message}: {s.whole}") for s in counted]


def _aside(
    result: Attempt, name: str, notebook: nbformat.NotebookNode, rows: Sequence[CellSpec], reason: str
) -> _Scored:
    """Run nothing of a notebook whose cells are not known to be those of this lab, and keep it for a person."""
    result.unreadable = True
    result.messages.append(f"{name}.ipynb: {reason}; {_WANTED.get(reason, 'hand in the one of this lab')}")
    return _not_run(name, mark_not_run(put_aside(notebook, rows), reason), rows)


def _explores(cell: nbformat.NotebookNode, explore: frozenset[str]) -> bool:
    """Whether a cell is one of the instructor's to explore. No cell that the gradebook knows goes by such an id."""
    return cell.id in explore and not metadata_of(cell)


def _calls_itself_explore(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell of the student's begins as those to explore do: it was copied, or another program lost its id."""
    return cell.cell_type == "code" and cell.source.startswith(EXPLORE) and not metadata_of(cell)


def _blank(name: str, rows: Sequence[CellSpec], reason: str) -> _Scored:
    """Return a notebook of which nothing was read: it earns nothing, and a person has nothing to look at."""
    blank = mark_not_run(repair(nbformat.v4.new_notebook(), rows).notebook, reason)
    execution, scores = _not_run(name, blank, rows)
    return execution, [replace(score, points=score.points or 0.0) for score in scores]


def _not_run(name: str, notebook: nbformat.NotebookNode, rows: Sequence[CellSpec]) -> _Scored:
    execution = Execution(notebook, complete=False)
    return execution, score_notebook(name, execution, rows)
