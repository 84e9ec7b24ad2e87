"""Says where what students were given, or what is graded with, is not what the instructor's sources say."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

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
        return _difference(_files(course.released(lab), made))


def _files(old: Path, new: Path) -> Iterator[tuple[Path, bytes | None, bytes | None]]:
    names = {path.relative_to(top) for top in (old, new) for path in top.rglob("*") if path.is_file()}
    for name in sorted(name for name in names if ".ipynb_checkpoints" not in name.parts):
        yield old / name, _content(old / name), _content(new / name)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


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
