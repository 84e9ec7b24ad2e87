"""What points by hand were given for, kept while a person is asked to look again: put back, it needs no look."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course
from autograder.files import write_whole

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """Of each student's cells with an open question, by notebook/grade_id, a hash of what was graded by hand."""

    path: Path

    @classmethod
    def of(cls, course: Course, lab: str) -> Asked:
        """Return what is kept of a lab."""
        return cls(course.state / f"{lab}.asked.json")

    def about(self, student: str) -> dict[str, str]:
        """Return the hashes of one student's cells."""
        found = self._read().get(student)
        return found if isinstance(found, dict) else {}

    def note(self, student: str, graded: Mapping[str, str]) -> None:
        """Keep these hashes of a student's cells in place of those from before."""
        before = self._read()
        now = {other: hashes for other, hashes in before.items() if other != student}
        if graded:
            now[student] = dict(graded)
        if now != before:
            self.path.parent.mkdir(exist_ok=True)
            write_whole(self.path, json.dumps(now, indent=0).encode())

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
