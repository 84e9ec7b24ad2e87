"""Says which notebooks of a lab with several a student has not handed in: nobody else does until they get 0 points."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from autograder.course import Course
from autograder.errors import listed

__all__ = ["Missing"]


@dataclass(frozen=True)
class Missing:
    """The notebooks of a lab that a submission lacks, by file name."""

    files: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    """Those of them that are in the submission which is there."""

    @classmethod
    def of(cls, course: Course, lab: str, student: str, needed: Collection[str]) -> Missing:
        """Compare what is to be placed, by file name, with the lab's notebooks and with what is there."""
        files = tuple(file for name in course.notebooks(lab) if (file := f"{name}.ipynb") not in needed)
        there = course.submitted(student, lab)
        return cls(files, tuple(file for file in files if (there / file).is_file()))

    def said(self, kind: str) -> list[str]:
        """Return notes on a submission of which this became: what is missing, and what the one before had."""
        if not self.at_the_end(kind):
            return []
        had = f"; the one before had {listed(self.before)}" if self.before and kind == "replaced" else ""
        return [f"{listed(self.files)} {'is' if len(self.files) == 1 else 'are'} missing{had}"]

    def at_the_end(self, kind: str) -> tuple[str, ...]:
        """Return what is missing in what is in its place now; nothing if another submission was kept there."""
        return () if kind == "kept" else self.files
