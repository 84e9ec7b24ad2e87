"""Where a course keeps what, and how it is graded, as its nbgrader_config.py says."""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from fnmatch import translate
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.apps.baseapp import NbGrader
from nbgrader.preprocessors import Execute

from autograder.course import converters, gradebook, late, stored
from autograder.course.alterations import alterations
from autograder.course.configuration import CONFIG, absolute, complaint, excluded_ids, inside
from autograder.course.execution import limits_within
from autograder.course.moments import moment
from autograder.course.preprocess import save_cells
from autograder.errors import CourseError
from autograder.files import MAX_ENTRIES, walk
from autograder.model import CellSpec, GradebookEntry, Limits

__all__ = ["Course", "open_course"]

_OF_SOURCES = {"*.py", "*.toml", "cards", "right", "wrong"}


def open_course(root: Path) -> Course:
    """Return the course in this directory; raise CourseError if it is not one."""
    root = root.resolve()
    if not root.is_dir():
        raise CourseError(f"{root}: no such directory", hint="give the course's directory: --course DIR")
    if not any((root / name).exists() for name in (CONFIG, "gradebook.db", "source")):
        raise CourseError(
            f"{root}: not a course: no {CONFIG}, gradebook.db or source/ here",
            hint="run this in the course's directory, give --course DIR, or make one: nbgrader quickstart NAME",
        )
    return Course(root)


class _App(NbGrader):  # type: ignore[misc]
    def exit(self, exit_status: int | str | None = 0) -> None:
        """Let out the error for which traitlets would end this process."""
        raise  # noqa: PLE0704


class Course:
    """An nbgrader course directory with its configuration and gradebook."""

    def __init__(self, root: Path) -> None:
        self.app = _App(log=converters.Complaints(), raise_config_file_errors=True)
        try:
            with inside(root):
                self.app.initialize([], root=str(root))
        except (Exception, SystemExit) as error:
            raise CourseError(complaint(root, error), hint="nbgrader cannot read it either") from error
        self.directory = self.app.coursedir
        self.root = Path(self.directory.root)
        self.directory.db_url = absolute(self.directory.db_url, self.root)
        self.source_directory = self.root / self.directory.source_directory
        self.release_directory = self.root / self.directory.release_directory
        self.state = self.root / ".autograder"
        """The directory of our own records; made when something is recorded."""

    # ------------------------------------------------------------------------------------------------------ directories
    def source(self, lab: str) -> Path:
        return self._path(self.directory.source_directory, ".", lab)

    def submitted(self, student: str, lab: str) -> Path:
        return self._path(self.directory.submitted_directory, student, lab)

    def autograded(self, student: str, lab: str) -> Path:
        return self._path(self.directory.autograded_directory, student, lab)

    def feedback(self, student: str, lab: str) -> Path:
        return self._path(self.directory.feedback_directory, student, lab)

    def _path(self, step: str, student: str, lab: str) -> Path:
        return Path(self.directory.format_path(step, student, lab))

    def submitters(self, lab: str) -> list[str]:
        """Return the students who handed something in, in order; a directory with no notebook counts."""
        return sorted(self._names(str(self.submitted("\0", lab))) - self.excluded)

    def sources(self) -> list[str]:
        """Return the labs that have a notebook in the source directory, in order."""
        path = str(self.source("\0"))
        return sorted(name for name in self._names(path) if any(Path(path.replace("\0", name)).glob("*.ipynb")))

    def _names(self, path: str) -> set[str]:
        """Return what stands for the NUL in the paths of the directories that exist."""
        name = re.compile(re.escape(path).replace(re.escape("\0"), "([^/]+)", 1).replace(re.escape("\0"), r"\1"))
        found = glob.glob(glob.escape(path).replace("\0", "*") + os.sep)  # noqa: PTH207 (Path cannot escape)
        return {match[1] for match in (name.fullmatch(p.rstrip(os.sep)) for p in found) if match}

    @property
    def excluded(self) -> set[str]:
        """The students whom the configuration leaves out."""
        return excluded_ids(self.directory.student_id_exclude)

    def files(self, folder: Path) -> dict[str, Path]:
        """Return the files beside an instructor's notebook that belong to the lab; links are left out."""
        return self._files(folder, self.directory.ignore)

    def handed_in(self, folder: Path) -> dict[str, Path]:
        """Return what stands beside a student's notebook, also links, pipes and folders too deep, which nobody opens.

        What keeps sources of ours away from students does not keep a student's own module away.
        """
        patterns = [pattern for pattern in self.directory.ignore if pattern not in _OF_SOURCES]
        return self._files(folder, patterns, everything=True)

    def _files(self, folder: Path, patterns: Iterable[str], *, everything: bool = False) -> dict[str, Path]:
        ignored = [translate(Path(pattern).as_posix()) for pattern in (*patterns, "*.ipynb", "timestamp.txt")]
        left_out = re.compile("|".join(ignored)).match  # one, for a submission may have a million parts of names
        found = walk(folder, most=MAX_ENTRIES if everything else sys.maxsize - 1) if folder.is_dir() else ()
        taken = [e for e in found if (everything or e.ordinary) and not any(map(left_out, e.name.split("/")))]
        return {entry.name: entry.path for entry in sorted(taken, key=lambda entry: entry.name.split("/"))}

    def given_files(self, lab: str) -> dict[str, Path]:
        """Return the instructor's files that stand beside every student's notebook, in place of the student's own."""
        with inside(self.root):
            left_alone = converters.left_alone(self.app, lab)
        return {name: path for name, path in self.files(self.source(lab)).items() if name not in left_alone}

    def timestamp(self, folder: Path) -> str:
        """Return when a submission was handed in, as nbgrader wrote it; empty if unknown or unreadable."""
        path = folder / "timestamp.txt"
        if not path.is_file() or path.is_symlink():
            return ""
        try:
            text = path.read_text(encoding="utf-8")[:100].strip()
        except (OSError, ValueError):
            return ""
        return text if moment(text) else ""

    # -------------------------------------------------------------------------------------------------------- gradebook
    def notebooks(self, lab: str) -> dict[str, list[CellSpec]]:
        """Return the notebooks of a lab and their cells; CourseError if it was not released, or is not in Python."""
        with self._gradebook() as book:
            rows = gradebook.lab_rows(book, lab, converters.hidden_delimiters(self.app))
            if other := gradebook.language(book, lab):
                raise CourseError(
                    f"{lab}: its notebooks are in {other}", hint="only Python is graded here; use nbgrader autograde"
                )
        return rows

    def register(self, lab: str, notebook: nbformat.NotebookNode) -> None:
        """Tell the gradebook about a lab built from our own source; raise CourseError if submissions forbid it."""
        with self._gradebook(create=True) as book:
            gradebook.add_lab(book, lab)
        try:
            with gradebook.usable(self.directory.db_url), gradebook.quiet():
                save_cells(notebook, lab, self.directory.db_url)
        except RuntimeError as error:
            raise CourseError(f"{lab}: {error}", hint=converters.HANDED_IN) from error

    def generate(self, lab: str) -> None:
        """Run nbgrader's own generate_assignment, for courses whose source is a notebook."""
        with inside(self.root):
            converters.generate(self.app, lab)

    @contextmanager
    def preview(self, lab: str) -> Iterator[Path]:
        """Give the directory of what generate would write, which nothing else is written to, until the block ends."""
        with tempfile.TemporaryDirectory(prefix="autograder-release-") as scratch:
            with inside(self.root):
                converters.preview(self.app, lab, Path(scratch))
            yield self._path(str(Path(scratch, "release")), ".", lab)

    def cells_to_be(self, lab: str, notebook: nbformat.NotebookNode | None = None) -> dict[str, list[CellSpec]]:
        """Return the notebooks and cells that a release would register; none of a lab that is not in Python.

        notebook: what a source of ours was built to; without it nbgrader's generate_assignment is asked.
        """
        with tempfile.TemporaryDirectory(prefix="autograder-release-") as scratch, inside(self.root):
            return converters.cells_to_be(self.app, lab, notebook, Path(scratch))

    def released(self, lab: str) -> Path:
        return self._path(self.directory.release_directory, ".", lab)

    def record(self, student: str, lab: str, staged: Path, *, gone: str = "") -> None:
        """Store executed notebooks, which stand in .../student/lab, as nbgrader's autograde would.

        gone: when an earlier submission came, whose timestamp.txt is no longer there: nbgrader would keep that.
        """
        if gone:
            with self._gradebook() as book:
                stored.forget_time(book, lab, student, gone)
        with inside(self.root):
            converters.record(self.app, lab, student, staged)

    def score(self, student: str, lab: str) -> GradebookEntry:
        """Return what the gradebook holds for one submission; CourseError if there is none."""
        with self._gradebook() as book:
            return stored.submission(book, lab, student)

    def scores(self, lab: str | None = None) -> list[GradebookEntry]:
        """Return every stored submission, of one lab or of all."""
        with self._gradebook() as book:
            return stored.stored(book, lab)

    def absent(self, lab: str | None = None) -> list[GradebookEntry]:
        """Return a row for each student of whom nothing is stored, of one lab or of all; not of those left out."""
        with self._gradebook() as book:
            return [row for row in stored.absent(book, lab) if row.student not in self.excluded]

    def cells(self, lab: str, student: str | None = None) -> dict[str, list[stored.StoredCell]]:
        """Return what the database holds of each submission's graded cells, or of this student's, by student."""
        with self._gradebook() as book:
            return stored.stored_cells(book, lab, student)

    def needs_a_look(self, lab: str, student: str, keys: Collection[str], whether: bool) -> None:
        """Say of these cells of a submission, by notebook/grade_id, whether a person has to look at them."""
        with self._gradebook() as book:
            stored.needs_a_look(book, lab, student, keys, whether)

    def give_nothing(self, lab: str, student: str, keys: Collection[str], waiting: Collection[str] = ()) -> None:
        """Give no points for those of these cells that nbgrader leaves to a person; see stored.give_nothing."""
        with self._gradebook() as book:
            stored.give_nothing(book, lab, student, keys, waiting)

    def commented(self, lab: str) -> dict[str, list[str]]:
        """Return the cells on which a person has commented, by student."""
        with self._gradebook() as book:
            return stored.commented(book, lab)

    def penalties(self, lab: str) -> dict[str, dict[str, float]]:
        """Return what each submission would lose today for being late, by student and notebook; empty: no policy."""
        with self._gradebook() as book, inside(self.root):
            return late.penalties(self.app, book, lab)

    def set_penalties(self, lab: str, student: str, penalties: Mapping[str, float]) -> None:
        """Store what `penalties` has said of one student."""
        with self._gradebook() as book:
            late.set_penalties(book, lab, student, penalties)

    def lateness(self, lab: str, student: str | None = None) -> dict[str, stored.Lateness]:
        """Return what decides how late each submission is, or this student's, by student."""
        with self._gradebook() as book:
            return stored.lateness(book, lab, student)

    def due(self, lab: str) -> datetime | None:
        """Return when a lab is due, in UTC; None if the gradebook does not say."""
        with self._gradebook() as book:
            return gradebook.due(book, lab)

    def alterations(self) -> list[str]:
        """Return what of the gradebook is not of nbgrader's making, as ends of sentences about it."""
        with self._gradebook() as book:
            return alterations(book)

    def recorded(self) -> list[str]:
        """Return the labs of which the gradebook holds a submission, in order."""
        with self._gradebook() as book:
            return stored.recorded_labs(book)

    def students(self, *, everybody: bool = False) -> list[gradebook.Student]:
        """Return the students that the gradebook knows, with names and addresses; those left out only if asked for."""
        with self._gradebook() as book:
            return [found for found in gradebook.students(book) if everybody or found.id not in self.excluded]

    def labs(self) -> list[str]:
        """Return the labs that the gradebook knows, in order."""
        with self._gradebook() as book:
            return gradebook.lab_names(book)

    def everybody(self) -> list[str]:
        """Return all students that the gradebook knows, in order, also those whom the configuration leaves out."""
        with self._gradebook() as book:
            return gradebook.roster(book)

    def roster(self) -> list[str]:
        """Return the students that the gradebook knows, in order, but for those left out."""
        with self._gradebook() as book:
            return [student for student in gradebook.roster(book) if student not in self.excluded]

    def _gradebook(self, *, create: bool = False) -> Any:
        return gradebook.open_gradebook(self.directory.db_url, self.directory.course_id, create=create)

    # ---------------------------------------------------------------------------------------------------- configuration
    @cached_property
    def limits(self) -> Limits:
        """Return the limits that nbgrader_config.py sets; a lab of ours has its own in lab.toml."""
        return limits_within(Execute(parent=self.app).timeout)

    @property
    def max_files_bytes(self) -> int:
        """How much a student may hand in beside the notebooks."""
        return int(self.directory.max_dir_size) * 1000
