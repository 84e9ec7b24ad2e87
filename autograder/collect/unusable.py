"""Says of each notebook, while it is collected, why it will not be graded: nobody wants to find out later."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course
from autograder.errors import SubmissionError, in_one_line
from autograder.notebook import grade_id_of
from autograder.submission.repair import parse, read
from autograder.submission.unfit import ANOTHER_LAB, cells_of_others, unfit

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
            reason = self._unfit(file, content)
        except SubmissionError as error:
            return in_one_line(error)
        return f"{file}: {reason}" if reason else ""

    def cells_of(self, content: bytes) -> str:
        """Return which of the lab's several notebooks these bytes are, by their cells; empty if that is not sure.

        It has more than half of that one's cells, and fewer of any other's: cells of two may have one name.
        """
        try:
            notebook, _ = parse(content, "")
        except SubmissionError:
            return ""
        names = {name for cell in notebook.cells if (name := grade_id_of(cell))}
        found = sorted(((len(names & ids), name) for name, ids in self.own.items()), reverse=True)
        (most, first), (second, _) = found[:2]
        return first if most > second and 2 * most > len(self.own[first]) else ""

    def of_another_lab(self, notebooks: Mapping[str, bytes]) -> str:
        """Return whose notebook one of these is, by file name, if it is another lab's; nothing if none is."""
        for file, content in notebooks.items():
            with suppress(SubmissionError):
                if (reason := self._unfit(file, content)).startswith(ANOTHER_LAB):
                    return reason
        return ""

    def _unfit(self, file: str, content: bytes) -> str:
        notebook, _ = parse(content, file)
        return unfit(notebook, self.own[Path(file).stem], self.others)

    def usable(self, path: Path) -> bool:
        """Whether there is a notebook in this place that can be graded."""
        try:
            return path.is_file() and not self.problem(path.name, read(path))
        except (SubmissionError, OSError):
            return False
