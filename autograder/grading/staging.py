"""Where a graded submission stands while it is being stored; what still stands there tells that a run was killed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.files import move_whole
from autograder.grading.attempt import Attempt
from autograder.submission.handin import Handin, kept_as

__all__ = ["Staging"]


@dataclass(frozen=True)
class Staging:
    """The staging folder of one lab."""

    course: Course
    lab: str

    def of(self, student: str) -> Path:
        """Return where this student's submission is laid out."""
        return self.course.state / f"{self.lab}.staging" / student / self.lab

    def lay_out(self, handin: Handin, done: Attempt) -> Path:
        """Lay out the executed notebooks as a submission for nbgrader to take over; return their folder."""
        self._put_back(handin.student)  # of a run that was killed
        self.clear(handin.student)
        folder = self.of(handin.student)
        folder.mkdir(parents=True)
        for name, notebook in done.notebooks.items():
            nbformat.write(notebook, folder / f"{name}.ipynb")
        for name, path in handin.files.items():
            target = folder / kept_as(name, handin.files)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        if handin.timestamp:
            (folder / "timestamp.txt").write_text(handin.timestamp, encoding="utf-8")
        return folder

    @contextmanager
    def replacing(self, student: str) -> Iterator[Path]:
        """Keep the graded copy of before, if there is one, until what is done within has made another, or has failed.

        Yields where it is meanwhile.
        nbgrader removes it first, and then finds out that it cannot store anything.
        """
        graded, aside = self.course.autograded(student, self.lab), self._aside(student)
        if graded.is_dir():
            move_whole(graded, aside)
        try:
            yield aside
        except BaseException:
            self._put_back(student)
            raise

    def _aside(self, student: str) -> Path:
        folder = self.of(student)
        return folder.with_name(f"{folder.name}.before")

    def _put_back(self, student: str) -> None:
        graded, aside = self.course.autograded(student, self.lab), self._aside(student)
        if aside.is_dir():
            shutil.rmtree(graded, ignore_errors=True)
            graded.parent.mkdir(parents=True, exist_ok=True)
            move_whole(aside, graded)

    def clear(self, student: str) -> None:
        """Remove it, what was kept meanwhile, and the folders above that are empty then.

        Itself last: where a run was killed on the way it still tells that. What is being removed is put back by nobody.
        """
        folder, aside = self.of(student), self._aside(student)
        old = aside.with_name(f"{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if aside.is_dir():
            aside.rename(old)
            shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        for parent in folder.parents[:2]:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
