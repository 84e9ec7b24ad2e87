"""Grades the instructor's own solution: a test that it fails would mark everybody down."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.errors import CourseError, SubmissionError, counted, in_one_line
from autograder.execution import Checks, Executor, preloads
from autograder.execution.canary import FORGED
from autograder.execution.results import Report
from autograder.files import write_whole
from autograder.grading.checks import checks_of
from autograder.grading.scoring import score_notebook
from autograder.grading.stopped import JOINED
from autograder.markers import BEGIN_HIDDEN, EXPLORE
from autograder.model import CellScore, CellSpec, Lab, Limits
from autograder.notebook import grade_id_of, is_fixed, metadata_of, read_notebook, to_explore
from autograder.records.fingerprint import fingerprint
from autograder.sandbox import Gpu, choose
from autograder.submission.repair import parse, repair

__all__ = [
    "Solution",
    "as_released",
    "by_reason",
    "failing",
    "instructors_cells",
    "own_answers",
    "scores_of",
    "why_not",
]

_MAX_REASON = 200


class Solution:
    """The instructor's notebooks of one lab, graded as if they had been handed in."""

    def __init__(self, course: Course, lab: str, built: bytes | None = None, gpu: Gpu | None = None) -> None:
        """built: the instructor's notebook, where the source is ours and was built; else it stands in the source.

        gpu: the one with which it is graded; what is known of it without one says nothing of it with one.
        Raises SandboxError where there is no sandbox.
        """
        folder = course.source(lab)
        self._course = course
        self._lab = lab
        self._built = None if built is None else nbformat.reads(built.decode(), as_version=4)
        self._notebooks = {path.stem: path.read_bytes() for path in sorted(folder.glob("*.ipynb"))}
        if built is not None:
            self._notebooks = {lab: built}
        self._given = course.given_files(lab)
        self._ours = Lab.read(folder) if (folder / "lab.toml").exists() else None
        self._limits = self._ours.limits if self._ours else course.limits
        self._sandbox, self._gpu = choose(), gpu
        self._kept = course.state / f"{lab}.solution.txt"
        files = [*self._notebooks.items(), *((f"given/{name}", p.read_bytes()) for name, p in self._given.items())]
        self._key = fingerprint(files, {}, self._limits, self._sandbox.name + " with a GPU" * (gpu is not None))

    @property
    def known(self) -> bool:
        """Whether it has been run before, just as it is, and had full marks."""
        return self.found() == []

    def found(self) -> list[str] | None:
        """Return what an earlier run has found of it, just as it is; None if there was none."""
        key, *lost = self._kept.read_text(encoding="utf-8").split("\n") if self._kept.is_file() else [""]
        return lost if key == self._key else None

    def lost(self, executor: Executor | None = None) -> list[str]:
        """Run it; return which tests it fails and why, a line each reason.

        executor: one that has imported what the lab does, if there is one.
        """
        rows = self._course.cells_to_be(self._lab, self._built)
        if not any(row.automatic for own in rows.values() for row in own):
            return []
        apart = self._ours is not None and self._ours.tests == "isolated"
        with ExitStack() as stack:
            executor = executor or stack.enter_context(
                Executor(self._sandbox, self._modules(rows), apart=apart, gpu=self._gpu)
            )
            lost = [line for name in rows for line in self._lost_in(executor, name, rows[name], apart=apart)]
        self._kept.parent.mkdir(exist_ok=True)
        lines = [self._key, *(line.replace("\n", " ") for line in lost)]
        write_whole(self._kept, "\n".join(lines).encode("utf-8", "replace"))
        return lost

    def _modules(self, rows: Mapping[str, Sequence[CellSpec]]) -> tuple[str, ...]:
        sources = [row.source for own in rows.values() for row in own if row.cell_type == "code"]
        return preloads(sources, self._ours.frameworks if self._ours else ())

    def _lost_in(self, executor: Executor, name: str, rows: Sequence[CellSpec], *, apart: bool) -> Iterator[str]:
        try:
            notebook = repair(parse(self._notebooks[name], f"{name}.ipynb")[0], rows).notebook
        except SubmissionError as error:
            yield in_one_line(error)
            return
        checks = checks_of(rows, None if apart else frozenset(), self._given)
        scores = scores_of(executor, name, notebook, rows, checks, self._limits, self._given)
        lost = why_not(scores)
        reasons = {key: lost[key] for key in lost if key in failing(lost)}
        where = f"{name}: " if len(self._notebooks) > 1 else ""
        yield from (f"{where}{tests} {why}" for tests, why in by_reason(reasons))


def instructors_cells(path: Path) -> list[nbformat.NotebookNode]:
    """Return the cells of the instructor's notebook; none if it is not there."""
    if not path.exists():
        return []
    try:
        return list(read_notebook(path).cells)
    except Exception as error:  # nbformat's readers fail in many ways
        hint = "release the lab again"
        raise CourseError(
            f"{path}: not a notebook ({type(error).__name__}: {in_one_line(error)})", hint=hint
        ) from error


def as_released(content: bytes, name: str, rows: Sequence[CellSpec]) -> nbformat.NotebookNode:
    """Return the instructor's notebook without tests and other locked cells that the gradebook does not know yet.

    They were written after the release: what is graded has none of them. Raises SubmissionError if it is no notebook.
    """
    notebook, known = parse(content, f"{name}.ipynb")[0], {row.grade_id for row in rows}
    notebook.cells = [c for c in notebook.cells if grade_id_of(c) in known or not is_fixed(metadata_of(c))]
    return notebook


def own_answers(path: Path, rows: Sequence[CellSpec]) -> nbformat.NotebookNode | None:
    """Return the instructor's notebook, ready to be run, without what is only to explore; None if there is none."""
    try:
        notebook = repair(parse(path.read_bytes(), path.name)[0], rows).notebook
    except (OSError, SubmissionError):
        return None
    notebook.cells = [cell for cell in notebook.cells if not to_explore(cell)]
    return notebook


def scores_of(
    executor: Executor,
    name: str,
    notebook: nbformat.NotebookNode,
    rows: Sequence[CellSpec],
    checks: Checks,
    limits: Limits,
    files: Mapping[str, Path],
    hear: Callable[[Mapping[str, Report]], object] = lambda _reports: None,
) -> list[CellScore]:
    """Return what the tests give the instructor, who may read all that they say.

    hear: is told what those that ran apart have reported.
    """
    skipped = {cell.id for cell in notebook.cells if cell.cell_type == "code" and cell.source.startswith(EXPLORE)}
    content = copy.deepcopy(notebook)
    execution = executor.run(content, limits=limits, files=files, explore=skipped, checks=checks)
    hear(execution.reports)
    readable = [replace(row, source=row.source.replace(BEGIN_HIDDEN, "")) for row in rows]
    tests = {row.grade_id for row in rows if row.automatic}
    return [score for score in score_notebook(name, execution, readable) if score.grade_id in tests]


def why_not(scores: Iterable[CellScore]) -> dict[str, str]:
    """Return the tests that do not give full marks, and why."""
    return {score.grade_id: _why(score) for score in scores if score.points != score.max_points}


def failing(lost: Mapping[str, str]) -> set[str]:
    """Return those of `why_not` that lose points for another reason than that no check of theirs can be made false."""
    return {name for name, why in lost.items() if FORGED not in why}


def _why(score: CellScore) -> str:
    failed = [f"{case['title']}: {case['message'] or case['error']}" for case in score.failed]
    lines = [*score.message.partition(JOINED)[0].splitlines(), *failed] or [
        f"{score.points:g} of {counted(score.max_points, 'point')}"
    ]
    return lines[0].replace("\n", " ")[:_MAX_REASON]


def by_reason(reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the tests that share a reason, and the reason."""
    for reason in dict.fromkeys(reasons.values()):
        names = sorted(name for name, why in reasons.items() if why == reason)
        yield ", ".join(f"{name!r}" for name in names) + ":", reason
