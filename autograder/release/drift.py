"""Says where what students were given, or what is graded with, is not what the instructor's sources say."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import Course
from autograder.errors import SourceError
from autograder.notebook import grade_id_of, metadata_of, read_notebook
from autograder.release.build import build, compare, to_notebook
from autograder.release.source import read_source

__all__ = ["drift", "unreleased"]


def drift(course: Course, lab: str, folder: Path | None) -> str:
    """Return a unified diff from the released lab to what a release would write; empty if they agree.

    folder: the lab's, if its source is ours; else nbgrader makes the release in a place of its own.
    """
    if folder:
        return _difference(compare(build(folder), course.release_directory / lab))
    with course.preview(lab) as made:
        known = {one for path in course.source(lab).glob("*.ipynb") for one in _ids(path.read_bytes())}
        return _difference(_files(course.released(lab), made, known))


def _files(old: Path, new: Path, known: Collection[str]) -> Iterator[tuple[Path, bytes | None, bytes | None]]:
    """Yield each file of two releases; known: the ids that the cells of the source have themselves."""
    names = {path.relative_to(top) for top in (old, new) for path in top.rglob("*") if path.is_file()}
    for name in sorted(name for name in names if ".ipynb_checkpoints" not in name.parts):
        yield old / name, _content(old / name, known), _content(new / name, known)


def _content(path: Path, known: Collection[str]) -> bytes | None:
    """Return a file, of a notebook without the ids of cells that nbformat makes up, in each release others."""
    data = path.read_bytes() if path.is_file() else None
    if data is None or path.suffix != ".ipynb" or not (notebook := _notebook(data)):
        return data
    for cell in notebook["cells"]:
        if str(cell.get("id")) not in known:
            cell.pop("id", None)
    return (json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _ids(data: bytes) -> list[str]:
    return [cell["id"] for cell in _notebook(data).get("cells", []) if isinstance(cell.get("id"), str)]


def _notebook(data: bytes) -> dict[str, Any]:
    """Return a notebook as it is written, nothing added to it; empty if it is none."""
    try:
        found = json.loads(data)
        whole = isinstance(found, dict) and all(isinstance(cell, dict) for cell in found["cells"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if whole else {}


def _difference(files: Iterable[tuple[Path, bytes | None, bytes | None]]) -> str:
    parts: list[str] = []
    for path, old, new in files:
        if old != new:
            before, after = ((b or b"").decode(errors="replace").splitlines(keepends=True) for b in (old, new))
            parts += difflib.unified_diff(before, after, f"{path} (released)", f"{path} (from its source)", n=2)
    return "".join(parts)


def unreleased(course: Course, lab: str) -> list[str]:
    """Return the names of the tests and locked cells that the source holds otherwise than the gradebook, in order.

    None where there is no source here, or none that can be read, which `release` says.
    """
    try:
        source = {notebook: dict(_fixed(cells)) for notebook, cells in _sources(course, lab)}
    except (SourceError, OSError, ValueError, AttributeError, nbformat.ValidationError):
        return []
    registered = {
        name: {row.grade_id: (row.source.strip(), row.points if row.grade else 0.0) for row in rows if not row.solution}
        for name, rows in course.notebooks(lab).items()
    }
    return [
        key if len(registered) == 1 else f"{name}/{key}"
        for name in sorted(registered.keys() & source.keys())
        for key in {**registered[name], **source[name]}
        if registered[name].get(key) != source[name].get(key)
    ]


def _sources(course: Course, lab: str) -> Iterator[tuple[str, list[nbformat.NotebookNode]]]:
    if (course.source_directory / lab / "lab.toml").is_file():
        yield lab, to_notebook(read_source(course.source_directory / lab)).cells
        return
    for path in sorted(course.source(lab).glob("*.ipynb")):
        yield path.stem, read_notebook(path).cells


def _fixed(cells: Iterable[nbformat.NotebookNode]) -> Iterator[tuple[str, tuple[str, float]]]:
    """Yield the name, text and points of each cell that students receive as it is."""
    for cell in cells:
        of = metadata_of(cell)
        if (of.get("grade") or of.get("locked")) and not of.get("solution"):
            yield grade_id_of(cell), (cell.source.strip(), float(of.get("points") or 0) if of.get("grade") else 0.0)
