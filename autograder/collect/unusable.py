"""Says of each notebook, while it is collected, why it will not be graded: nobody wants to find out later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course
from autograder.errors import SubmissionError, in_one_line
from autograder.submission.repair import parse, read
from autograder.submission.unfit import cells_of_others, unfit

__all__ = ["Usable"]


@dataclass(frozen=True)
class Usable:
    """What notebooks of one lab look like."""

    own: Mapping[str, frozenset[str]]
    """The grade_ids of each notebook."""
    others: Mapping[str, frozenset[str]]
    """Those of each other lab."""

    @classmethod
    def in_lab(cls, course: Course, lab: str) -> Usable:
        """Read them from the gradebook."""
        own = {name: frozenset(row.grade_id for row in rows) for name, rows in course.notebooks(lab).items()}
        return cls(own, cells_of_others(course, lab))

    def problem(self, file: str, content: bytes) -> str:
        """Return why these bytes are not graded as the notebook with this file name; nothing if they are."""
        try:
            notebook, _ = parse(content, file)
        except SubmissionError as error:
            return in_one_line(error)
        reason = unfit(notebook, self.own[Path(file).stem], self.others)
        return f"{file}: {reason}" if reason else ""

    def usable(self, path: Path) -> bool:
        """Whether there is a notebook in this place that can be graded."""
        try:
            return path.is_file() and not self.problem(path.name, read(path))
        except (SubmissionError, OSError):
            return False
