"""Remembers the texts that locked cells were handed out with: one that is merely older is no edit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.course import Course
from autograder.files import write_whole
from autograder.markers import strip_hidden
from autograder.model import CellSpec
from autograder.notebook import grade_id_of, read_notebook
from autograder.submission.repair import text_hash

__all__ = ["Texts", "handed_out", "remember"]

Texts = Mapping[str, Mapping[str, frozenset[str]]]
"""Hashes of the texts that a locked cell has had, by notebook and grade_id."""


def handed_out(course: Course, lab: str, rows: Mapping[str, Sequence[CellSpec]]) -> Texts:
    """Return what locked cells were handed out with, in today's release and in those that were remembered.

    A notebook of which no release is known is not in it: then nobody can say what students were given.
    """
    found: dict[str, dict[str, frozenset[str]]] = {}
    before = _remembered(_path(course, lab))
    for name, cells in rows.items():
        released = _released(course.release_directory / lab / f"{name}.ipynb")
        if not released and name not in before:
            continue
        found[name] = {
            row.grade_id: frozenset(
                {text_hash(row.source), text_hash(strip_hidden(row.source)), released.get(row.grade_id, "")}
                | set(before.get(name, {}).get(row.grade_id, ()))
            )
            - {""}
            for row in cells
            if row.locked
        }
    return found


def remember(course: Course, lab: str, texts: Texts) -> None:
    """Keep them for the time when the lab has been released again."""
    path = _path(course, lab)
    content = {name: {key: sorted(found) for key, found in cells.items()} for name, cells in texts.items()}
    if content != _remembered(path):
        path.parent.mkdir(exist_ok=True)
        write_whole(path, json.dumps(content, indent=1).encode())


def _path(course: Course, lab: str) -> Path:
    return course.state / f"{lab}.texts.json"


def _remembered(path: Path) -> dict[str, dict[str, list[str]]]:
    """Return what was remembered; nothing if the file is not there or is none of ours: it may be deleted."""
    try:
        return {
            str(name): {str(key): [str(one) for one in found] for key, found in cells.items()}
            for name, cells in json.loads(path.read_bytes()).items()
        }
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _released(path: Path) -> dict[str, str]:
    """Return a hash of each cell's text in the released notebook; nothing if it cannot be read."""
    try:
        cells = read_notebook(path).cells
    except Exception:  # nbformat's readers fail in many ways
        return {}
    return {grade_id_of(cell): text_hash(cell.source) for cell in cells if grade_id_of(cell)}
