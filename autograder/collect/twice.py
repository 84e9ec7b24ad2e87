"""Notices who is collected a second time under another id, as where --roster was given once and is forgotten then."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.collect.rows import Row
from autograder.course import Course
from autograder.errors import CourseError, counted, listed

__all__ = ["Twice"]

_PERHAPS = {
    True: "it was collected without --roster FILE then, perhaps",
    False: "--roster FILE was given then, perhaps, and is missing now",
}
_HINTS = {
    True: "who is to keep which id: docs/instructors.md, two ids; --force collects all of them under these ids, too",
    False: "give the --roster FILE that was given then; --force collects all of them under these ids, too",
}
"""What may have happened, and what to do, by whether a roster is given now."""


@dataclass(frozen=True)
class Twice:
    """Whose notebooks are, byte for byte, those of a submission that was collected before under another id."""

    ids: Mapping[str, str] = field(default_factory=dict)
    """The other id, by student."""
    of: int = 0
    """How many students there are in all."""
    roster: bool = False

    @classmethod
    def found(
        cls,
        course: Course,
        lab: str,
        students: Collection[str],
        notebooks: Callable[[str], Mapping[str, bytes]],
        *,
        everybody: Collection[str],
        roster: bool,
    ) -> Twice:
        """Compare what these students have handed in with what was collected before.

        Two students of one archive may have the same notebooks, and whoever did nothing has the released ones: neither
        says anything. notebooks: gives those of a student by file name. everybody: all students of the archive.
        """
        before = [student for student in course.submitters(lab) if student not in everybody]
        new = [student for student in students if not course.submitted(student, lab).exists()]
        if not before or not new:
            return cls()
        names = [f"{name}.ipynb" for name in course.notebooks(lab)]
        there = {_hash(_read(course.submitted(student, lab), names)): student for student in reversed(before)}
        released = _hash(_read(course.released(lab), names))
        hashes = {student: _hash(notebooks(student)) for student in new}
        ids = {s: there[own] for s, own in hashes.items() if own and own != released and own in there}
        return cls(ids, len(students), roster)

    def check(self, source: Path) -> None:
        """Raise CourseError if most students are such: then it is the ids that have changed."""
        if len(self.ids) > 1 and 2 * len(self.ids) > self.of:
            pairs = listed([f"{student} is {other}" for student, other in sorted(self.ids.items())])
            whose = f"{len(self.ids)} of {counted(self.of, 'student')}"
            raise CourseError(
                f"{source}: the notebooks of {whose} are, byte for byte, those of submissions that were collected under"
                f" other ids: {pairs}; {_PERHAPS[self.roster]}",
                hint=_HINTS[self.roster],
            )

    def noted(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Yield the rows; of a student who has another id, with what is known of that."""
        for row in rows:
            other = self.ids.get(row.student) if row.placed else None
            same = f"byte for byte what was collected as {other}'s: one student under two ids?"
            yield replace(row, what=f"{row.what}; {same} {_PERHAPS[self.roster]}") if other else row


def _read(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return the notebooks of these names in a folder; links are left out."""
    found = {}
    for name in names:
        with suppress(OSError):
            if not (path := folder / name).is_symlink():
                found[name] = path.read_bytes()
    return found


def _hash(notebooks: Mapping[str, bytes]) -> str:
    """Return a hash of notebooks and their names; empty if there are none."""
    each = [f"{name}\0{hashlib.sha256(data).hexdigest()}" for name, data in sorted(notebooks.items())]
    return hashlib.sha256("\0".join(each).encode("utf-8", "replace")).hexdigest() if each else ""
