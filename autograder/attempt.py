"""Runs and scores one submission without touching the database; what goes wrong here is that submission's alone."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.errors import AutograderError, CourseError, SubmissionError, in_one_line
from autograder.execute import Executor, mark_not_run
from autograder.handin import Handin
from autograder.model import CellScore, Lab, Limits, SourceCellRow, Status
from autograder.modes import Modes, find_modes
from autograder.release import EXPLORE
from autograder.score import score_notebook
from autograder.store import fingerprint
from autograder.submission import parse, repair

__all__ = ["Attempt", "Setup", "attempt", "explain", "prepare"]


@dataclass(frozen=True)
class Setup:
    """What every submission of a lab is run with."""

    executor: Executor
    rows: Mapping[str, Sequence[SourceCellRow]]
    """The cells of each notebook, as the gradebook knows them."""
    limits: Limits
    explore: frozenset[str]
    """Ids of cells that are not run, known from the instructor's notebooks and never from a student's."""
    given: Mapping[str, Path]
    """The instructor's files that stand beside every notebook."""
    modes: Modes
    """Where the test cells of each notebook run."""

    @property
    def max_score(self) -> float:
        return sum(row.points for rows in self.rows.values() for row in rows)

    @cached_property
    def _given_content(self) -> list[tuple[str, bytes]]:
        return [(f"given/{name}", path.read_bytes()) for name, path in self.given.items()]

    def fingerprint(self, handin: Handin) -> str:
        """Return a hash of everything that the grade of this submission depends on."""
        skipped = ("explore", " ".join(sorted(self.explore)).encode())
        checks = {name: (sorted(c.isolated), sorted(c.guarded)) for name, c in self.modes.checks.items()}
        modes = ("modes", repr(checks).encode())
        content = [*handin.content(), *self._given_content, skipped, modes]
        return fingerprint(content, dict(self.rows), self.limits, self.executor.sandbox.name)


@dataclass
class Attempt:
    """What became of one submission before it is stored."""

    handin: Handin
    notebooks: dict[str, nbformat.NotebookNode] = field(default_factory=dict)
    cells: list[CellScore] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    unreadable: bool = False
    complete: bool = True
    tampered: bool = False
    seconds: float = 0.0
    sandbox: str = ""
    isolated: bool = False
    failure: str = ""
    """Why the grader could not do it."""

    @property
    def status(self) -> Status:
        if self.unreadable:
            return Status.UNREADABLE
        if not self.complete:
            return Status.PARTLY_GRADED
        return Status.TAMPERED if self.tampered else Status.GRADED


def prepare(course: Course, lab: str, executor: Executor) -> Setup:
    """Return what is needed to run submissions of this lab; raise CourseError if it was not released."""
    folder = course.source(lab)
    rows = course.notebooks(lab)
    ours = (folder / "lab.toml").exists()
    limits = Lab.read(folder).limits if ours else course.limits
    given = course.given_files(lab)
    return Setup(
        executor=executor,
        rows=rows,
        limits=limits,
        explore=frozenset(_explore_ids(folder / f"{name}.ipynb" for name in rows)),
        given=given,
        modes=find_modes(course, lab, executor, limits, given),
    )


def attempt(setup: Setup, handin: Handin) -> Attempt:
    """Run the notebooks in the sandbox and score them."""
    box = setup.executor.sandbox
    result = Attempt(handin, messages=list(handin.notes), sandbox=box.walls or box.name, isolated=box.isolated)
    started = time.monotonic()
    try:
        for name, rows in setup.rows.items():
            result.notebooks[name] = _run(setup, result, name)
            result.cells += score_notebook(name, result.notebooks[name], rows)
    except Exception as error:  # an error of ours must not stop the class
        result.failure = explain(error)
    result.seconds = time.monotonic() - started
    return result


def explain(error: Exception) -> str:
    """Return an error in one line; one that nobody expected with the line it came from, for the kit's authors."""
    if isinstance(error, AutograderError):
        return in_one_line(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {in_one_line(error)} ({Path(frame.filename).name}:{frame.lineno})"


def _run(setup: Setup, result: Attempt, name: str) -> nbformat.NotebookNode:
    """Return this notebook, executed; a blank one with the reason in its graded cells if it cannot be read."""
    rows, handin = setup.rows[name], result.handin
    try:
        if name in handin.problems:
            raise SubmissionError(handin.problems[name])
        if name not in handin.notebooks:
            result.messages.append(f"{name}.ipynb: not handed in")
            return _blank(rows, "not handed in")
        notebook, notes = parse(handin.notebooks[name], f"{name}.ipynb")
        repaired = repair(notebook, rows)
    except SubmissionError as error:
        result.unreadable = True
        result.messages.append(in_one_line(error))
        return _blank(rows, in_one_line(error))
    result.tampered = result.tampered or bool(repaired.tampered)
    result.messages += [*notes, *repaired.notes, *repaired.tampered]
    skipped = setup.explore | {cell.id for cell in repaired.notebook.cells if cell.source.startswith(EXPLORE)}
    for cell in repaired.notebook.cells:
        if cell.cell_type == "code" and cell.id not in skipped:
            cell.outputs = []  # of a cell that is run, what it puts out now is what counts
    files = {**handin.files, **setup.given}
    execution = setup.executor.run(
        repaired.notebook, limits=setup.limits, files=files, explore=skipped, checks=setup.modes.checks[name]
    )
    result.messages += [*execution.forged, *execution.problems]
    result.tampered = result.tampered or bool(execution.forged)
    result.complete = result.complete and execution.complete
    return execution.notebook


def _blank(rows: Sequence[SourceCellRow], reason: str) -> nbformat.NotebookNode:
    return mark_not_run(repair(nbformat.v4.new_notebook(), rows).notebook, reason)


def _explore_ids(paths: Iterable[Path]) -> Iterable[str]:
    for path in paths:
        if not path.exists():
            continue
        try:
            cells = nbformat.read(path, as_version=4).cells
        except Exception as error:  # nbformat's readers fail in many ways
            raise CourseError(f"{path}: not a notebook ({explain(error)})", hint="release the lab again") from error
        yield from (cell.id for cell in cells if cell.metadata.get("labkit", {}).get("explore"))
