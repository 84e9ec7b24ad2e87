"""Grades the submissions of a lab: read, repair, execute, score, store; nobody's trouble stops the others."""

from __future__ import annotations

import shutil
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.errors import AutograderError, CourseError, SubmissionError
from autograder.execute import Executor, mark_not_run
from autograder.model import CellScore, Lab, Limits, Result, SourceCellRow, Status
from autograder.score import score_notebook
from autograder.store import Log, fingerprint
from autograder.submission import parse, read, repair

__all__ = ["Grading", "Outcome"]

Rows = Mapping[str, Sequence[SourceCellRow]]


@dataclass(frozen=True)
class Outcome:
    """A result, and whether it is new or was found in the log."""

    result: Result
    unchanged: bool = False


@dataclass(frozen=True)
class _Submission:
    """One student's files, read but not yet trusted with anything."""

    student: str
    folder: Path
    notebooks: dict[str, bytes]
    problems: dict[str, str]
    support: tuple[Path, ...]
    fingerprint: str = ""


@dataclass
class _Work:
    """What became of one submission before it is stored."""

    submission: _Submission
    notebooks: dict[str, nbformat.NotebookNode] = field(default_factory=dict)
    cells: list[CellScore] = field(default_factory=list)
    tampered: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    complete: bool = True
    seconds: float = 0.0
    failure: str = ""
    """Why the grader could not do it."""


class Grading:
    """The grading of one lab of one course."""

    def __init__(self, course: Course, lab: str, executor: Executor) -> None:
        self.course = course
        self.lab = lab
        self.executor = executor
        self.rows: Rows = course.notebooks(lab)
        self.limits = _limits(course, lab)
        self.explore = {name: _explore_ids(course, lab, name) for name in self.rows}
        self.log = Log(course.state() / f"{lab}.jsonl")

    def students(self, only: Sequence[str] = ()) -> list[str]:
        """Return who is to be graded: everybody who handed in and everybody on the roster, or `only` these."""
        submitters = self.course.submitters(self.lab)
        everybody = sorted({*submitters, *self.course.roster()})
        if unknown := sorted(set(only) - set(everybody)):
            raise CourseError(
                f"{unknown[0]}: no such student: nothing of theirs in {self.course.submitted(unknown[0], self.lab)}",
                hint=f"there are {len(submitters)} submissions of {self.lab}",
            )
        return sorted(set(only)) or everybody

    def run(self, students: Sequence[str], *, workers: int = 1, force: bool = False) -> Iterator[Outcome]:
        """Yield an outcome for each student as it is stored; workers execute, only this thread writes."""
        done = {} if force else self.log.latest()
        pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="grade")
        pending: set[Future[_Work]] = set()
        waiting = list(reversed(students))
        try:
            while waiting or pending:
                while waiting and len(pending) < workers:
                    started = self._start(waiting.pop(), done, pool)
                    if isinstance(started, Outcome):
                        yield started
                    else:
                        pending.add(started)
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield Outcome(self._store(future.result()))
        finally:
            self.executor.stop()
            pool.shutdown(cancel_futures=True)

    def plan(self, students: Sequence[str], *, force: bool = False) -> Iterator[tuple[str, str]]:
        """Yield each student and what `run` would do with them."""
        done = self.log.latest()
        for student in students:
            submission = self._read(student)
            if not submission.notebooks and not submission.problems:
                yield student, "nothing handed in"
            elif student not in done:
                yield student, "would be graded: new"
            elif force or not self._is_done(submission, done):
                yield (
                    student,
                    "would be graded again: " + ("forced" if force else "it, the tests or the packages changed"),
                )
            else:
                yield student, "unchanged"

    def _is_done(self, submission: _Submission, done: Mapping[str, Result]) -> bool:
        earlier = done.get(submission.student)
        same = earlier and earlier.fingerprint == submission.fingerprint and earlier.status != Status.FAILED
        return bool(same) and self.course.autograded(submission.student, self.lab).is_dir()

    def _start(self, student: str, done: Mapping[str, Result], pool: ThreadPoolExecutor) -> Outcome | Future[_Work]:
        submission = self._read(student)
        if not submission.notebooks and not submission.problems:
            return Outcome(self._missing(submission))
        if self._is_done(submission, done):
            return Outcome(self._with_gradebook(done[student]), unchanged=True)
        return pool.submit(self._work, submission)

    # ---------------------------------------------------------------------------------------------------- one student
    def _read(self, student: str) -> _Submission:
        folder = self.course.submitted(student, self.lab)
        notebooks, problems = {}, {}
        for name in self.rows:
            path = folder / f"{name}.ipynb"
            if path.exists() or path.is_symlink():
                try:
                    notebooks[name] = read(path)
                except SubmissionError as error:
                    problems[name] = str(error)
        support = tuple(self.course.support_files(folder)) if folder.is_dir() else ()
        files = [*notebooks.items(), *((str(p.relative_to(folder)), p.read_bytes()) for p in support)]
        print_ = fingerprint(files, dict(self.rows), self.limits, self.executor.sandbox.name)
        return _Submission(student, folder, notebooks, problems, support, print_)

    def _missing(self, submission: _Submission) -> Result:
        others = sorted(p.name for p in submission.folder.glob("*.ipynb")) if submission.folder.is_dir() else []
        wanted = ", ".join(f"{name}.ipynb" for name in self.rows)
        message = f"no {wanted}" + (f"; there is {', '.join(others[:3])}: was it renamed?" if others else "")
        total = sum(row.points for rows in self.rows.values() for row in rows)
        result = Result(
            submission.student, self.lab, Status.MISSING, max_score=total, messages=(message,), graded_at=_now()
        )
        if (earlier := self.log.latest().get(result.student)) is None or earlier.status != Status.MISSING:
            self.log.append(result)
        return result

    def _work(self, submission: _Submission) -> _Work:
        """Everything that needs no database; runs in a worker. What goes wrong here is that submission's alone."""
        work = _Work(submission)
        started = time.monotonic()
        try:
            self._run_notebooks(work)
        except Exception as error:
            work.failure = str(error) if isinstance(error, AutograderError) else _where(error)
        work.seconds = time.monotonic() - started
        return work

    def _run_notebooks(self, work: _Work) -> None:
        submission = work.submission
        for name, rows in self.rows.items():
            try:
                if name in submission.problems:
                    raise SubmissionError(submission.problems[name])
                if name not in submission.notebooks:
                    raise SubmissionError(f"{name}.ipynb: not handed in")
                content, notes = parse(submission.notebooks[name], f"{name}.ipynb")
                repaired = repair(content, rows)
            except SubmissionError as error:
                blank = repair(nbformat.v4.new_notebook(), rows).notebook
                work.notebooks[name] = mark_not_run(blank, str(error))
                work.messages.append(str(error))
                submission.problems[name] = str(error)
            else:
                self._execute(work, name, repaired.notebook)
                work.tampered += repaired.tampered
                work.messages += [*notes, *repaired.notes, *repaired.tampered]
            work.cells += score_notebook(name, work.notebooks[name], rows)

    def _execute(self, work: _Work, name: str, notebook: nbformat.NotebookNode) -> None:
        source = self.course.source_directory / self.lab
        files = {str(p.relative_to(work.submission.folder)): p for p in work.submission.support}
        files |= {str(p.relative_to(source)): p for p in self.course.support_files(source)}
        execution = self.executor.run(notebook, limits=self.limits, files=files, explore=self.explore[name])
        work.notebooks[name] = execution.notebook
        work.messages += execution.problems
        work.complete = work.complete and execution.complete

    # ---------------------------------------------------------------------------------------------------------- store
    def _store(self, work: _Work) -> Result:
        submission = work.submission
        result = Result(
            student=submission.student,
            lab=self.lab,
            status=_status(work),
            seconds=round(work.seconds, 2),
            messages=tuple(work.messages),
            cells=tuple(work.cells),
            sandbox=self.executor.sandbox.name,
            isolated=self.executor.sandbox.isolated,
            fingerprint=submission.fingerprint,
            graded_at=_now(),
        )
        failure = work.failure
        if not failure:
            try:
                self._record(work)
                result = self._with_gradebook(result)
            except CourseError as error:
                failure = str(error)
        if failure:
            result = replace(
                result, status=Status.FAILED, messages=(*result.messages, failure), cells=(), fingerprint=""
            )
        self.log.append(result)
        return result

    def _record(self, work: _Work) -> None:
        """Hand the executed notebooks to nbgrader, which writes autograded/ and the gradebook."""
        staging = Path(tempfile.mkdtemp(prefix="staging-", dir=self.course.state()))
        below_root = str(staging.relative_to(self.course.root))
        folder = self.course.staged(below_root, work.submission.student, self.lab)
        try:
            folder.mkdir(parents=True)
            for name, notebook in work.notebooks.items():
                nbformat.write(notebook, folder / f"{name}.ipynb")
            for path in work.submission.support:
                target = folder / path.relative_to(work.submission.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            if stamp := self.course.timestamp(work.submission.folder):
                (folder / "timestamp.txt").write_text(stamp, encoding="utf-8")
            self.course.record(work.submission.student, self.lab, below_root)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(staging, ignore_errors=True)

    def _with_gradebook(self, result: Result) -> Result:
        stored = self.course.score(result.student, self.lab)
        written = f"{stored.to_grade} written answer{'s' if stored.to_grade > 1 else ''} to grade by hand"
        messages = tuple(m for m in result.messages if "to grade by hand" not in m)
        messages += (written,) if stored.to_grade and result.status != Status.UNREADABLE else ()
        return replace(result, score=stored.score, max_score=stored.max_score, messages=messages)


def _status(work: _Work) -> Status:
    if work.submission.problems:
        return Status.UNREADABLE
    if not work.complete:
        return Status.PARTLY_GRADED
    return Status.TAMPERED if work.tampered else Status.GRADED


def _limits(course: Course, lab: str) -> Limits:
    folder = course.source_directory / lab
    return Lab.read(folder).limits if (folder / "lab.toml").exists() else course.limits


def _explore_ids(course: Course, lab: str, name: str) -> frozenset[str]:
    """The cells that are not run when grading, known from the instructor's notebook and never from the student's."""
    path = course.source_directory / lab / f"{name}.ipynb"
    if not path.exists():
        return frozenset()
    source = nbformat.read(path, as_version=4)
    return frozenset(cell.id for cell in source.cells if cell.metadata.get("labkit", {}).get("explore"))


def _where(error: Exception) -> str:
    """Name an error that nobody expected, and the line it came from, for a report to the kit's authors."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
