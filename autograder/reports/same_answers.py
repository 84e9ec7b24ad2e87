"""Finds submissions whose answers are all the same text, whatever their outputs, metadata and spaces are."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.course import Course
from autograder.notebook import below_tasks, metadata_of, read_notebook, was_put_back

__all__ = ["same_answers"]


def same_answers(course: Course, lab: str, names: Sequence[str], students: Iterable[str]) -> list[list[str]]:
    """Return the groups of students with the same answers; students who changed nothing of the handout are excluded."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for student in students:
        if digest := _digest(course.autograded(student, lab), names):
            groups[digest].append(student)
    untouched = _digest(course.release_directory / lab, names)
    return sorted(group for digest, group in groups.items() if len(group) > 1 and digest != untouched)


def _digest(folder: Path, names: Sequence[str]) -> str:
    """Return a hash of the answers in these notebooks; empty if one cannot be read, or none is a student's."""
    content = hashlib.sha256()
    found = False
    for name in names:
        try:
            cells = read_notebook(folder / f"{name}.ipynb").cells
        except Exception:  # nbformat's readers fail in many ways; a notebook without a text is like no other
            return ""
        answers = [cell for cell in cells if metadata_of(cell).get("solution")]
        below = [cell for added in below_tasks(cells).values() for cell in added]
        found = found or bool(below) or not all(map(was_put_back, answers))
        for cell in [*answers, *below]:
            content.update("".join(cell.source.split()).encode("utf-8", "replace") + b"\0")
    return content.hexdigest() if found else ""
