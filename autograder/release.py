"""Makes the nbgrader source notebook and the students' notebook of a lab, and refuses to publish what would leak."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder import lint
from autograder.course import Course, release_version
from autograder.errors import SourceError
from autograder.files import write_whole
from autograder.source import LabSource, SourceCell, read_source

__all__ = ["EXPLORE", "Release", "build", "drift", "find_labs", "publish", "to_notebook"]

EXPLORE = "# explore: change anything here; this cell is not run when your work is graded"
_SIGNIFICANT = 32
"""A removed line with fewer characters than this says nothing: `return x`, `optimizer="momentum",`."""

_ALT_TEXT = 20


@dataclass(frozen=True)
class Release:
    """A built lab: the files of labs/NN, and the notebook that nbgrader's own tools start from."""

    name: str
    source_notebook: bytes
    files: dict[str, bytes]


def find_labs(solutions: Path) -> list[Path]:
    """Return the lab folders below solutions/, in order."""
    return sorted(path.parent for path in solutions.glob("[0-9][0-9]_*/lab.toml"))


def build(folder: Path) -> Release:
    """Return the lab as students and nbgrader receive it; raise SourceError if it must not be published."""
    source = read_source(folder)
    lint.check_tests(source)
    instructor = to_notebook(source)
    student = release_version(instructor)
    _check_leaks(source, student)
    figures = {f"figures/{path.name}": path.read_bytes() for path in sorted((folder / "figures").glob("*.svg"))}
    _check_figures(source, figures)
    notebook = f"{source.lab.name}.ipynb"
    return Release(source.lab.name, _dump(instructor), {notebook: _dump(student), **figures})


def publish(release: Release, course: Course) -> list[Path]:
    """Write labs/NN and solutions/NN/NN.ipynb, register the lab in the gradebook; return the files that changed."""
    target = course.release_directory / release.name
    source_notebook = course.source_directory / release.name / f"{release.name}.ipynb"
    changed = [path for path, old, new in _compare(release, target) if old != new]
    for path in changed:
        if (content := release.files.get(path.relative_to(target).as_posix())) is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    if not source_notebook.exists() or source_notebook.read_bytes() != release.source_notebook:
        write_whole(source_notebook, release.source_notebook)
    course.register(release.name, nbformat.reads(release.source_notebook.decode(), as_version=4))
    return changed


def drift(release: Release, labs: Path) -> str:
    """Return a unified diff from labs/NN as it is to what the source says; empty if they agree."""
    parts: list[str] = []
    for path, old, new in _compare(release, labs / release.name):
        if old != new:
            before, after = ((b or b"").decode(errors="replace").splitlines(keepends=True) for b in (old, new))
            parts += difflib.unified_diff(before, after, f"{path} (committed)", f"{path} (from its source)", n=2)
    return "".join(parts)


def _compare(release: Release, target: Path) -> Iterator[tuple[Path, bytes | None, bytes | None]]:
    present = {
        p.relative_to(target).as_posix()
        for p in target.rglob("*")
        if p.is_file() and ".ipynb_checkpoints" not in p.parts
    }
    for name in sorted(present | set(release.files)):
        path = target / name
        yield path, path.read_bytes() if name in present else None, release.files.get(name)


# ------------------------------------------------------------------------------------------------------- the notebooks
def to_notebook(source: LabSource) -> nbformat.NotebookNode:
    """Return the instructor's notebook: solutions and hidden tests inside, nbgrader's metadata filled in."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "labkit": {
                "generated_by": "autograder release",
                "source": f"solutions/{source.lab.name}/{source.lab.name}.py",
            },
        }
    )
    ids = _cell_ids(source)
    notebook.cells = [_to_cell(cell, cell_id) for cell, cell_id in zip(source.cells, ids, strict=True)]
    return notebook


def _to_cell(cell: SourceCell, cell_id: str) -> nbformat.NotebookNode:
    if cell.cell_type == "markdown":
        node = nbformat.v4.new_markdown_cell(cell.source)
    else:
        node = nbformat.v4.new_code_cell(f"{EXPLORE}\n{cell.source}" if cell.explore else cell.source)
    node.id = cell_id
    node.metadata = nbformat.from_dict(_metadata(cell))
    return node


def _metadata(cell: SourceCell) -> dict[str, Any]:
    if cell.explore:
        return {"labkit": {"explore": True}}
    if not cell.grade_id:
        return {}
    nbgrader: dict[str, Any] = {
        "cell_type": cell.cell_type,
        "grade": cell.grade,
        "grade_id": cell.grade_id,
        "locked": cell.locked or cell.test,
        "schema_version": 3,
        "solution": cell.solution,
        "task": False,
    }
    return {"nbgrader": nbgrader | ({"points": cell.points} if cell.grade else {})}


def _cell_ids(source: LabSource) -> list[str]:
    """Ids that stay when other cells come and go: the grade_id, or the section's heading and a number."""
    ids: list[str] = []
    section = "top"
    for cell in source.cells:
        if cell.cell_type == "markdown" and (heading := re.search(r"^#+ (.+)$", cell.source, re.MULTILINE)):
            section = re.sub(r"[^a-z0-9]+", "-", heading[1].lower()).strip("-")[:48]
        base = cell.grade_id or section
        number = sum(taken == base or taken.startswith(f"{base}--") for taken in ids)
        ids.append(f"{base}--{number}" if number else base)
    return ids


# ------------------------------------------------------------------------------------------------------- what may leave
def _check_leaks(source: LabSource, student: nbformat.NotebookNode) -> None:
    published: dict[str, int] = {}
    for node in student.cells:
        for line in node.source.split("\n"):
            published.setdefault(line.strip(), len(published))
    for cell in source.cells:
        for offset, line in enumerate(cell.removed()):
            text = line.strip()
            if len(text) >= _SIGNIFICANT and not text.startswith(("import ", "from ")) and text in published:
                raise SourceError(
                    f"{source.where(cell, offset + 1)}: a solution or hidden line also stands in what students receive",
                    hint=f"change one of the two: {text}",
                )
    whole = "\n".join(node.source for node in student.cells)
    if re.search(r"### (BEGIN|END) ", whole):
        raise SourceError(f"{source.path}: a marker is left in the students' notebook")


def _check_figures(source: LabSource, figures: dict[str, bytes]) -> None:
    used: set[str] = set()
    for cell in source.cells:
        for alt, target in re.findall(
            r"!\[([^\]]*)\]\(([^)\s]+)\)", cell.source if cell.cell_type == "markdown" else ""
        ):
            used.add(target)
            if target not in figures:
                raise SourceError(f"{source.where(cell)}: no such figure: {target}", hint="figures are figures/*.svg")
            if len(alt) < _ALT_TEXT:
                raise SourceError(f"{source.where(cell)}: {target} needs alt text that says what it shows")
    if unused := sorted(set(figures) - used):
        raise SourceError(f"{source.path}: {unused[0]} is not used by any cell", hint="show it, or delete it")


def _dump(notebook: nbformat.NotebookNode) -> bytes:
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook)}\n".encode()
