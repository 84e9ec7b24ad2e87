"""What one student handed in: the lab's notebooks, the files beside them, and when."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath

from autograder.course import Course
from autograder.errors import SubmissionError, in_one_line, listed
from autograder.files import Entry
from autograder.submission.repair import read

__all__ = ["Handin", "handed_in_as", "kept_as", "read_handin"]

_LONGEST_NAME = 255
"""Bytes that a file's name may have on Linux."""
_RUN = re.compile(r"html|[/+]xml|javascript|\.([xs]?html?|xht|mht|xml|svgz?|m?js)$")
"""In the type or at the end of the name of what a browser may run."""


@dataclass(frozen=True)
class Handin:
    """One student's files, read but not yet trusted with anything."""

    student: str
    notebooks: Mapping[str, bytes]
    problems: Mapping[str, str]
    """Why a notebook that is there cannot be read, by its name."""
    others: tuple[str, ...] = ()
    """Notebooks that do not belong to the lab."""
    files: Mapping[str, Path] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What of the files is left out, and why: one line for each reason."""
    timestamp: str = ""
    fingerprint: str = ""
    """Hash of all this and of what it is run with: equal work is not done twice."""

    @property
    def empty(self) -> bool:
        return not self.notebooks and not self.problems

    def content(self) -> Iterator[tuple[str, bytes]]:
        """Yield everything of it that a grade depends on, each piece under a name of its own."""
        yield "timestamp", self.timestamp.encode()
        for name, problem in self.problems.items():
            yield f"problem/{name}", problem.encode()
        for name, notebook in self.notebooks.items():
            yield f"notebook/{name}", notebook
        for name, path in self.files.items():
            yield f"file/{name}", path.read_bytes()


def read_handin(course: Course, lab: str, names: Collection[str], student: str) -> Handin:
    """Return what this student handed in of the notebooks with these names; OSError for what may not be read.

    Raises SubmissionError if there are too many files.
    """
    folder = course.submitted(student, lab)
    notebooks: dict[str, bytes] = {}
    problems: dict[str, str] = {}
    for name in names:
        path = folder / f"{name}.ipynb"
        if path.exists() or path.is_symlink():
            try:
                notebooks[name] = read(path)
            except SubmissionError as error:
                problems[name] = in_one_line(error)
    others = tuple(p.name for p in sorted(folder.glob("*.ipynb")) if p.stem not in names)
    files, notes = _files_beside(course, folder, course.files(course.source(lab)))
    return Handin(student, notebooks, problems, others, files, notes, course.timestamp(folder))


def _files_beside(course: Course, folder: Path, instructors: Iterable[str]) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Return the files that may go into the sandbox, and for each reason a note about the others.

    The instructor's files win: nbgrader, too, puts them in place of the student's own.
    """
    kept: dict[str, Path] = {}
    left_out: dict[str, list[str]] = {}
    left = course.max_files_bytes
    ours = {name: _above(name) for name in instructors}
    folders = {parent for parents in ours.values() for parent in parents}
    for name, path in course.handed_in(folder).items():
        if name in folders or any(parent in ours for parent in _above(name)):
            left_out.setdefault("the instructor's files need this name", []).append(ascii(name)[1:-1])
        elif problem := _problem(name, path, left):
            left_out.setdefault(problem, []).append(ascii(name)[1:-1])
        else:
            kept[name] = path
            left -= path.stat().st_size
    return kept, tuple(f"{listed(names)}: left out: {why}" for why, names in left_out.items())


def _above(name: str) -> list[str]:
    """Return the folders that a file stands in, as they are written in its name."""
    return [name[:place] for place, letter in enumerate(name) if letter == "/"]


def _problem(name: str, path: Path, left: int) -> str:
    if problem := Entry(path, name, path.lstat()).problem:  # opening a pipe would wait forever
        return problem
    try:
        name.encode()
        with path.open("rb"):
            size = path.stat().st_size
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return "the files beside the notebook are too large (max_dir_size)" if size > left else ""


def kept_as(name: str, others: Collection[str]) -> str:
    """Return the name under which a file beside a notebook is kept: formgrader serves it as what its name says.

    What a browser would run there, in the session of the instructor, ends in .txt. others: the names of all files.
    """
    if not (_RUN.search(mimetypes.guess_type(name)[0] or "") or _RUN.search(name.lower())):
        return name
    taken = {part for other in others for part in (other, *map(str, PurePosixPath(other).parents))}
    folder, _, own = name.rpartition("/")
    endings = (f"-{number}.txt" if number else ".txt" for number in count())
    names = (own.encode()[: _LONGEST_NAME - len(end)].decode(errors="ignore") + end for end in endings)
    return next(found for name in names if (found := f"{folder}/{name}".lstrip("/")) not in taken)


def handed_in_as(kept: str) -> str:
    """Return under which name a file was handed in that is kept under this one, as far as that can be told."""
    before = re.sub(r"(-\d+)?\.txt$", "", kept)
    return before if before != kept and kept_as(before, ()) == f"{before}.txt" else kept
