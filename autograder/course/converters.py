"""nbgrader's converters, made to work on exactly one submission and to say why when they cannot."""

from __future__ import annotations

import contextlib
import errno
import functools
import glob
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.utils
from nbconvert.preprocessors import ExecutePreprocessor
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import ClearHiddenTests
from traitlets import TraitError, import_item

from autograder.course import gradebook
from autograder.course.gradebook import DISK_FULL, FREE_SPACE, quiet
from autograder.course.preprocess import REFUSED, CheckMarkers, RefuseMarkers, save_cells
from autograder.errors import CourseError, SourceError
from autograder.model import CellSpec

__all__ = ["HANDED_IN", "Complaints", "cells_to_be", "generate", "left_alone", "preview", "record"]


_CONVERTING = "Converting notebook %s"
_STOPS = "nbgrader itself would stop here too"
HANDED_IN = "students have handed in the old version: keep its cells, or use a new lab name"
_STEPS = "c.GenerateAssignment.preprocessors has to name the step that clears it; nbgrader's own list does"
_NOT_OURS = {errno.EACCES, errno.EPERM, errno.EROFS}
_FULL = ("disk is full", "No space left on device")


class Complaints(logging.Logger):
    """Keeps nbgrader's errors instead of printing them. It reports an exception as a traceback, and others in words."""

    def __init__(self) -> None:
        super().__init__("nbgrader", logging.INFO)
        self._messages: list[str] = []
        self.notebook = ""
        """The name of the notebook that is being converted."""
        self.caught: BaseException | None = None
        """The last exception that nbgrader reported, which it does not raise again."""

    def handle(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self._messages.append(record.getMessage().strip())
            self.caught = sys.exception() or self.caught
        elif record.msg == _CONVERTING:
            self.notebook = Path(record.getMessage()).name

    def take(self) -> str:
        """Return the one that says most, in one line, and forget them all."""
        messages, self._messages, self.caught = self._messages, [], None
        if any(words in message for words in _FULL for message in messages):
            return DISK_FULL
        tracebacks = [message for message in messages if "Traceback (most recent call last)" in message]
        lines = (tracebacks or messages or [""])[0].splitlines()
        return (lines[-1] if tracebacks else " ".join(lines)).strip()


class _Recorder(Autograde):  # type: ignore[misc]
    """nbgrader's autograde without the execution: it stores notebooks that were executed and scored already."""

    staged: Path

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sanitize_preprocessors: list[Any] = []
        configured: list[Any] = self.autograde_preprocessors  # type: ignore[has-type]
        self.autograde_preprocessors = [step for step in configured if not _executes(step)]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with _each_pattern_once():
            super().init_assignment(assignment_id, student_id)

    def init_notebooks(self) -> None:
        # nbgrader looks for them with a glob, in which a course's or a student's name may mean something else.
        self.assignments = {str(self.staged): [str(path) for path in sorted(self.staged.glob("*.ipynb"))]}

    def _format_source(self, assignment_id: str, student_id: str, escape: bool = False) -> str:
        if self._sanitizing:
            base = str(self.staged.parents[1])
            path = os.path.join(re.escape(base) if escape else base, student_id, assignment_id)  # noqa: PTH118
        else:  # the second half of nbgrader's work, which starts from what the first half has written
            path = str(super()._format_source(assignment_id, student_id, escape))
        return f"(?s){path}" if escape else path  # a dot is any character of a name, a line feed too


@contextlib.contextmanager
def _each_pattern_once() -> Iterator[None]:
    """Let nbgrader look for what it leaves out once a folder: for each file it lists the whole folder again."""

    @functools.cache
    def found(folder: str, pattern: str) -> frozenset[str]:
        return frozenset(glob.glob(os.path.join(folder, pattern)))  # noqa: PTH118, PTH207 (as nbgrader writes paths)

    def is_ignored(filename: str, ignore_globs: Sequence[str] | None = None) -> bool:
        folder = os.path.dirname(filename)  # noqa: PTH120
        return any(filename in found(folder, pattern) for pattern in ignore_globs or ())

    before = nbgrader.utils.is_ignored
    nbgrader.utils.is_ignored = is_ignored
    try:
        yield
    finally:
        nbgrader.utils.is_ignored = before


def _executes(preprocessor: Any) -> bool:
    kind = import_item(preprocessor) if isinstance(preprocessor, str) else preprocessor
    return issubclass(kind if isinstance(kind, type) else type(kind), ExecutePreprocessor)


class _Generator(GenerateAssignment):  # type: ignore[misc]
    """nbgrader's generate_assignment, but that no marker is handed out, whatever steps the course has configured."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.preprocessors: list[Any] = [CheckMarkers, *self.preprocessors, RefuseMarkers]


def record(app: Any, lab: str, student: str, staged: Path) -> None:
    """Store the notebooks in .../student/lab, with the files beside them, as nbgrader's autograde would."""

    def recorder() -> Any:
        converter = _Recorder(coursedir=app.coursedir, parent=app, force=True)
        converter.staged = staged
        return converter

    _convert(app, lab, student, recorder)


def generate(app: Any, lab: str) -> None:
    """Run nbgrader's own generate_assignment."""
    _convert(app, lab, ".", lambda: _Generator(coursedir=app.coursedir, parent=app, force=True))


def preview(app: Any, lab: str, scratch: Path) -> None:
    """Run it into scratch/release, with a gradebook of its own there."""
    directory = app.coursedir
    before = directory.release_directory, directory.db_url
    directory.release_directory, directory.db_url = str(scratch / "release"), f"sqlite:///{scratch / 'gradebook.db'}"
    try:
        generate(app, lab)
    finally:
        directory.release_directory, directory.db_url = before


def cells_to_be(app: Any, lab: str, notebook: nbformat.NotebookNode | None, scratch: Path) -> dict[str, list[CellSpec]]:
    """Return what a release registers, of this notebook or of nbgrader's own, from a gradebook made in scratch."""
    url = f"sqlite:///{scratch / 'gradebook.db'}"
    if notebook is None:
        preview(app, lab, scratch)
    with gradebook.open_gradebook(url, app.coursedir.course_id, create=True) as book:
        if notebook is not None:
            gradebook.add_lab(book, lab)
            save_cells(notebook, lab, url)
        return {} if gradebook.language(book, lab) else gradebook.lab_rows(book, lab, hidden_delimiters(app))


def hidden_delimiters(app: Any) -> tuple[str, str]:
    """Return the texts between which this course's release hides the lines of a test."""
    hiding = ClearHiddenTests(parent=app)
    return hiding.begin_test_delimeter, hiding.end_test_delimeter


def left_alone(app: Any, lab: str) -> Sequence[str]:
    """Return the files of the source that do not replace a student's own (Autograde.exclude_overwriting)."""
    return list(Autograde(coursedir=app.coursedir, parent=app).exclude_overwriting.get(lab, []))


def _convert(app: Any, lab: str, student: str, make: Callable[[], Any]) -> None:
    app.log.take()
    app.log.notebook = ""
    try:
        app.coursedir.assignment_id, app.coursedir.student_id = lab, student
        with quiet():
            make().start()
    except (NbGraderException, TraitError, ImportError, SystemExit) as error:
        if why := gradebook.beneath(app.coursedir.db_url, app.log.caught or error):
            raise why from error
        caught = app.log.caught
        if isinstance(caught, SourceError) or (isinstance(caught, OSError) and caught.errno in _NOT_OURS):
            raise caught from error  # it names the place; of an OSError whoever shows it says what to do
        what = app.log.take() or str(error)
        if what == DISK_FULL or any(words in what for words in _FULL):
            raise CourseError(f"{lab}: {DISK_FULL}", hint=FREE_SPACE) from error
        where = f"{lab}/{app.log.notebook}" if app.log.notebook else lab
        known = {REFUSED: _STEPS, "because there are submissions": HANDED_IN}
        hint = next((hint for words, hint in known.items() if words in what), _STOPS)
        raise CourseError(f"{where}: nbgrader: {what}", hint=hint) from error
