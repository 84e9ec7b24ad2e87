"""A course directory as nbgrader sees it; the only module that imports nbgrader."""

from __future__ import annotations

import copy
import glob
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps.baseapp import NbGrader
from nbgrader.converters import Autograde, BaseConverter, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    ComputeChecksums,
    Execute,
    LockCells,
    NbGraderPreprocessor,
    SaveCells,
)
from nbgrader.utils import compute_checksum, determine_grade, parse_utc
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from autograder.errors import CourseError
from autograder.model import Limits, SourceCellRow, Stored
from autograder.stub import clear_solutions

__all__ = [
    "Course",
    "StubSolutions",
    "checksum",
    "nbgrader_points",
    "open_course",
    "release_version",
]


class StubSolutions(NbGraderPreprocessor):  # type: ignore[misc]
    """nbgrader's ClearSolutions, with a stub that names the task; for nbgrader_config.py."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        return clear_solutions(nb), resources


BEFORE_SAVING = [LockCells, StubSolutions, ClearOutput, CheckCellMetadata, ComputeChecksums]
AFTER_SAVING = [ClearHiddenTests, ComputeChecksums, CheckCellMetadata]


def release_version(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the students' version of an instructor's notebook: no solutions, no hidden tests, checksums set."""
    return _process(notebook, [*BEFORE_SAVING, *AFTER_SAVING], {})


def checksum(cell: nbformat.NotebookNode) -> str:
    """Return nbgrader's checksum of a cell."""
    return str(compute_checksum(cell))


def nbgrader_points(cell: nbformat.NotebookNode) -> float | None:
    """Return what nbgrader itself would give for the outputs of this cell; None if a person grades it."""
    try:
        points, _ = determine_grade(cell)
    except ValueError:
        return None
    return None if points is None else float(points)


def open_course(root: Path) -> Course:
    """Return the course in this directory; raise CourseError if it is none."""
    root = root.resolve()
    if not root.is_dir():
        raise CourseError(f"{root}: no such directory", hint="give the course's directory: --course DIR")
    if not any((root / name).exists() for name in ("nbgrader_config.py", "gradebook.db", "source")):
        raise CourseError(
            f"{root}: not a course: no nbgrader_config.py, gradebook.db or source/ here",
            hint="run this in the course's directory, give --course DIR, or make one: nbgrader quickstart NAME",
        )
    return Course(root)


class Course:
    """An nbgrader course directory with its configuration and gradebook."""

    def __init__(self, root: Path) -> None:
        self.root = root
        _put_environment_on_path()
        with _working_directory(root):
            self.app = NbGrader(log_level=logging.ERROR)
            try:
                self.app.initialize([], root=str(root))
            except (Exception, SystemExit) as error:
                raise CourseError(
                    f"{root}/nbgrader_config.py: {error}", hint="nbgrader cannot read it either"
                ) from error
        self._log: list[str] = []
        self.app.log.handlers, self.app.log.propagate = [_Collector(self._log)], False
        self.directory = self.app.coursedir
        self.source_directory = root / self.directory.source_directory
        self.release_directory = root / self.directory.release_directory

    # ------------------------------------------------------------------------------------------------------ directories
    def submitted(self, student: str, lab: str) -> Path:
        return Path(self.directory.format_path(self.directory.submitted_directory, student, lab))

    def autograded(self, student: str, lab: str) -> Path:
        return Path(self.directory.format_path(self.directory.autograded_directory, student, lab))

    def feedback(self, student: str, lab: str) -> Path:
        return Path(self.directory.format_path(self.directory.feedback_directory, student, lab))

    def staged(self, staging: str, student: str, lab: str) -> Path:
        """Return the folder that stands for submitted/<student>/<lab> below a staging directory."""
        return Path(self.directory.format_path(staging, student, lab))

    def timestamp(self, folder: Path) -> str:
        """Return when a submission was handed in, as nbgrader wrote it; empty if unknown or unreadable."""
        path = folder / "timestamp.txt"
        if not path.is_file() or path.is_symlink():
            return ""
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        try:
            parse_utc(text)
        except (ValueError, OverflowError, TypeError):
            return ""
        return text

    def state(self) -> Path:
        """Return the directory of our own records, made on first use."""
        path = self.root / ".autograder"
        path.mkdir(exist_ok=True)
        return path

    def submitters(self, lab: str) -> list[str]:
        """Return the students who handed something in, in order; a directory with no notebook counts."""
        pattern = self.submitted("*", lab).relative_to(self.root)
        position = pattern.parts.index("*")
        found = [p.relative_to(self.root).parts[position] for p in self.root.glob(str(pattern)) if p.is_dir()]
        excluded = (self.directory.student_id_exclude or "").split(",")
        return sorted(set(found) - set(excluded))

    def support_files(self, folder: Path) -> list[Path]:
        """Return the files beside a notebook that belong to the lab or the submission; links are left out."""
        ignored = [*self.directory.ignore, "*.ipynb", "timestamp.txt"]
        files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()]
        return [
            p
            for p in files
            if not any(part.match(i) for part in map(Path, p.relative_to(folder).parts) for i in ignored)
        ]

    # -------------------------------------------------------------------------------------------------------- gradebook
    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        """Open the gradebook; raise CourseError if it cannot be read or written."""
        url = self.directory.db_url
        try:
            with _quiet(), Gradebook(url, self.directory.course_id) as book:
                yield book
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            hint = "is the disk full or read-only? an old gradebook is brought up to date with: nbgrader db upgrade"
            raise CourseError(f"{url}: {cause}", hint=hint) from error

    def register(self, lab: str, notebook: nbformat.NotebookNode) -> None:
        """Tell the gradebook about a lab built from our own source; raise CourseError if submissions forbid it."""
        with self.gradebook() as book:
            book.update_or_create_assignment(lab)
        resources = {"nbgrader": {"notebook": lab, "assignment": lab, "db_url": self.directory.db_url}}
        try:
            _process(notebook, [*BEFORE_SAVING, SaveCells], resources)
        except RuntimeError as error:
            raise CourseError(
                f"{lab}: {error}", hint="students have handed in the old version: keep its cells, or use a new lab name"
            ) from error

    def generate(self, lab: str) -> None:
        """Run nbgrader's own generate_assignment, for courses whose source is a notebook."""
        self._convert(GenerateAssignment, lab, ".")

    def notebooks(self, lab: str) -> dict[str, list[SourceCellRow]]:
        """Return the notebooks of a lab and their cells; raise CourseError if the lab is not in the gradebook."""
        with self.gradebook() as book:
            try:
                assignment = book.find_assignment(lab)
            except MissingEntry:
                known = ", ".join(sorted(a.name for a in book.assignments)) or "none"
                raise CourseError(
                    f"{lab}: no such lab in the gradebook (there: {known})",
                    hint=f"release it first: autograder release {lab}",
                ) from None
            return {
                notebook.name: [_row(notebook, cell) for cell in notebook.source_cells]
                for notebook in assignment.notebooks
            }

    def record(self, student: str, lab: str, staging: str) -> None:
        """Store executed notebooks, staging/<student>/<lab>/*.ipynb below the root, as nbgrader's autograde would."""
        self._convert(_Recorder, lab, student, staging=staging)

    def score(self, student: str, lab: str) -> Stored:
        """Return what the gradebook holds for one submission; CourseError if there is none."""
        with self.gradebook() as book:
            try:
                submission = book.find_submission(lab, student)
            except MissingEntry:
                raise CourseError(f"{student}: no grade for {lab} in the gradebook") from None
            return _stored(submission)

    def scores(self, lab: str | None = None) -> list[Stored]:
        """Return every stored submission, of one lab or of all."""
        with self.gradebook() as book:
            labs = [a for a in book.assignments if lab in (None, a.name)]
            return [
                _stored(submission) for a in labs for submission in sorted(a.submissions, key=lambda s: s.student.id)
            ]

    def roster(self) -> list[str]:
        """Return the students that the gradebook knows, in order."""
        with self.gradebook() as book:
            return sorted(student.id for student in book.students)

    def _convert(self, kind: type[BaseConverter], lab: str, student: str, **traits: Any) -> None:
        self.directory.assignment_id, self.directory.student_id = lab, glob.escape(student)
        converter = kind(coursedir=self.directory, parent=self.app, force=True)
        for name, value in traits.items():
            setattr(converter, name, value)
        self._log.clear()
        try:
            with _quiet(), _working_directory(self.root):
                converter.start()
        except (NbGraderException, SystemExit) as error:
            what = self._log[0] if self._log else str(error)
            raise CourseError(f"{lab}: nbgrader: {what}", hint="nbgrader itself would stop here too") from error

    # ---------------------------------------------------------------------------------------------------- configuration
    @cached_property
    def limits(self) -> Limits:
        """Return the limits that nbgrader_config.py sets; a lab of ours has its own in lab.toml."""
        return Limits(cell_time_s=float(Execute(parent=self.app).timeout or 30))


class _Recorder(Autograde):  # type: ignore[misc]
    """nbgrader's autograde without the execution: it reads notebooks that were executed and scored already."""

    staging = ""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sanitize_preprocessors: list[Any] = []
        names = {"Execute", "nbgrader.preprocessors.Execute"}
        configured: list[Any] = self.autograde_preprocessors  # type: ignore[has-type]
        self.autograde_preprocessors = [p for p in configured if getattr(p, "__name__", p) not in names]

    @property
    def _input_directory(self) -> str:
        return self.staging if self._sanitizing else str(self.coursedir.autograded_directory)


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage().strip().splitlines()[-1] if record.getMessage().strip() else "")


def _process(
    notebook: nbformat.NotebookNode, preprocessors: list[type], resources: dict[str, Any]
) -> nbformat.NotebookNode:
    notebook = copy.deepcopy(notebook)
    for preprocessor in preprocessors:
        notebook, resources = preprocessor().preprocess(notebook, resources)
    return notebook


def _row(notebook: Any, cell: Any) -> SourceCellRow:
    grade = {c.name: c for c in notebook.grade_cells}.get(cell.name)
    task = {c.name: c for c in notebook.task_cells}.get(cell.name)
    worth = grade or task
    return SourceCellRow(
        grade_id=cell.name,
        cell_type=cell.cell_type,
        source=cell.source,
        checksum=cell.checksum or "",
        locked=bool(cell.locked),
        grade=grade is not None,
        solution=any(c.name == cell.name for c in notebook.solution_cells),
        task=task is not None,
        points=float(worth.max_score) if worth else 0.0,
    )


def _stored(submission: Any) -> Stored:
    student, assignment = submission.student, submission.assignment
    return Stored(
        student=student.id,
        last_name=student.last_name or "",
        first_name=student.first_name or "",
        email=student.email or "",
        lab=assignment.name,
        due=str(assignment.duedate or ""),
        handed_in=str(submission.timestamp or ""),
        raw_score=float(submission.score),
        penalty=float(submission.late_submission_penalty or 0.0),
        score=max(0.0, float(submission.score) - float(submission.late_submission_penalty or 0.0)),
        max_score=float(submission.max_score),
        to_grade=sum(grade.needs_manual_grade for notebook in submission.notebooks for grade in notebook.grades),
        comments={
            f"{notebook.name}/{comment.cell.name}": comment.comment
            for notebook in submission.notebooks
            for comment in notebook.comments
            if comment.comment
        },
        grades={
            f"{notebook.name}/{grade.cell.name}": float(grade.score)
            for notebook in submission.notebooks
            for grade in notebook.grades
        },
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """nbgrader 0.9.6 makes SQLAlchemy 2.1 warn about its own autoflush; nobody here can mend that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        yield


def _put_environment_on_path() -> None:
    """nbgrader starts `alembic` by its bare name to make a gradebook; our environment may not be activated."""
    here = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath)
    if here not in path.split(os.pathsep):
        os.environ["PATH"] = here + os.pathsep + path


@contextmanager
def _working_directory(path: Path) -> Iterator[None]:
    # nbgrader's converters and configuration look at the working directory.
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
