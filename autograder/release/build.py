"""Makes the nbgrader source notebook and the students' notebook of a lab, and refuses to publish what would leak."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import Course, release_version
from autograder.errors import SourceError, counted
from autograder.files import write_whole
from autograder.markers import CHECK, EXPLORE, GIVEN
from autograder.notebook import read_notebook_text
from autograder.release import lint
from autograder.release.source import MARKER, LabSource, SourceCell, read_source
from labkit._work.stamp import checksum, is_as_released, released_files, stamp

__all__ = ["Release", "build", "compare", "find_labs", "not_ours", "publish", "to_notebook"]

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
    stamp(student, figures)
    # nbgrader's own tools start from the instructor's notebook, and leave its metadata as they are.
    instructor.metadata.labkit.release = student.metadata.labkit.release
    _check_figures(source, figures)
    notebook = f"{source.lab.name}.ipynb"
    return Release(source.lab.name, _dump(instructor), {notebook: _dump(student), **figures})


def publish(release: Release, course: Course) -> tuple[list[Path], bool]:
    """Register the lab in the gradebook, write labs/NN and solutions/NN/NN.ipynb.

    Returns the files of labs/NN that changed, and whether the instructor's notebook has: hidden tests or solutions.
    The gradebook comes first: it may refuse, and then nothing has been written.
    """
    course.register(release.name, read_notebook_text(release.source_notebook))
    target = course.release_directory / release.name
    changed = [path for path, old, new in compare(release, target) if old != new]
    for path in changed:
        if (content := release.files.get(path.relative_to(target).as_posix())) is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    source_notebook = course.source_directory / release.name / f"{release.name}.ipynb"
    before = source_notebook.read_bytes() if source_notebook.exists() else b""
    if before != release.source_notebook:
        write_whole(source_notebook, release.source_notebook)
    return changed, bool(before) and before != release.source_notebook


def compare(release: Release, target: Path) -> Iterator[tuple[Path, bytes | None, bytes | None]]:
    """Yield each file of labs/NN that a release makes, as it is and as it should be; None: not there."""
    made = [target / f"{release.name}.ipynb", *(target / "figures").glob("*.svg")]  # the rest is a student's own
    present = {path.relative_to(target).as_posix() for path in made if path.is_file()}
    for name in sorted(present | set(release.files)):
        path = target / name
        yield path, path.read_bytes() if name in present else None, release.files.get(name)


def not_ours(release: Release, target: Path) -> list[Path]:
    """Return the files of labs/NN that publishing would replace or remove, and that no release wrote as they are."""
    notebook = target / f"{release.name}.ipynb"
    files = released_files(notebook.read_bytes()) if notebook.is_file() else {}

    def ours(path: Path, content: bytes) -> bool:
        if path == notebook:
            return is_as_released(content)
        return files.get(path.relative_to(target).as_posix()) == checksum(content)

    return [path for path, old, new in compare(release, target) if old not in (None, new) and not ours(path, old)]


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
        node = nbformat.v4.new_code_cell("\n".join([*_header(cell), cell.source]))
    node.id = cell_id
    node.metadata = nbformat.from_dict(_metadata(cell))
    return node


def _header(cell: SourceCell) -> list[str]:
    if cell.explore:
        return [EXPLORE]
    if cell.folded:
        return [GIVEN]
    return [CHECK.format(points=counted(cell.points, "point"))] if cell.test else []


def _metadata(cell: SourceCell) -> dict[str, Any]:
    if cell.explore:
        # JupyterLab's "Run All" goes on after it, where a task is not implemented yet.
        return {"labkit": {"explore": True}, "tags": ["raises-exception"]}
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
    # A check is longer than the answer it asks for: folded, it leaves the task in sight, and opens with a click.
    # So does given code that need not be read.
    folded = {"jupyter": {"source_hidden": True}} if cell.folded or (cell.test and cell.cell_type == "code") else {}
    return {"nbgrader": nbgrader | ({"points": cell.points} if cell.grade else {}), **folded}


def _cell_ids(source: LabSource) -> list[str]:
    """Ids that stay when other cells come and go: the grade_id, or a hash of the text.

    An explore cell is known by its section: it has the same id when its text was fixed after the release.
    """
    taken = {cell.grade_id for cell in source.cells}
    ids: list[str] = []
    section = "top"
    for cell in source.cells:
        if cell.cell_type == "markdown" and (headings := re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)):
            title = re.sub(r"\(.*?\)", "", headings[-1].lower())  # without "(2 points)"
            section = re.sub(r"[^a-z0-9]+", "-", title).strip("-")[:40].strip("-") or "section"
        text = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        base = f"{section}-explore" if cell.explore else f"{cell.cell_type}-{text}"
        ids.append(cell.grade_id or next(name for name in _numbered(base) if name not in taken))
        taken.add(ids[-1])
    return ids


def _numbered(base: str) -> Iterator[str]:
    yield base
    yield from (f"{base}-{number}" for number in count(2))


# ------------------------------------------------------------------------------------------------------- what may leave
def _check_leaks(source: LabSource, student: nbformat.NotebookNode) -> None:
    whole = "\n".join(node.source for node in student.cells)
    published = {line.strip() for line in whole.split("\n")}
    prose = "\n".join(node.source for node in student.cells if node.cell_type == "markdown")
    for cell in source.cells:
        for block in cell.blocks:
            for number in range(block.begin + 2, block.end + 1):
                text = cell.lines[number - 1].strip()
                if len(text) < _SIGNIFICANT or text.startswith(("import ", "from ")):
                    continue
                if text in published or text in prose:
                    raise SourceError(
                        f"{source.where(cell, number)}: a solution or hidden line also stands in what students receive",
                        hint=f"change one of the two: {text}",
                    )
    if marker := MARKER.search(whole):
        raise SourceError(f"{source.path}: a marker is left in the students' notebook: {marker[0]!r}")


def _check_figures(source: LabSource, figures: dict[str, bytes]) -> None:
    used: set[str] = set()
    for cell in source.cells:
        for number, line in enumerate(cell.lines if cell.cell_type == "markdown" else [], 1):
            where = source.where(cell, number)
            if "<img" in line:
                raise SourceError(f"{where}: an <img> tag", hint="write ![what it shows](figures/name.svg)")
            for alt, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)[^)]*\)", line):
                used.add(target)
                if target not in figures:
                    raise SourceError(f"{where}: no such figure: {target}", hint="figures are figures/*.svg")
                if len(alt) < _ALT_TEXT:
                    raise SourceError(f"{where}: {target} needs alt text", hint="say in a sentence what it shows")
    if unused := sorted(set(figures) - used):
        raise SourceError(f"{source.path}: {unused[0]} is not used by any cell", hint="show it, or delete it")


def _dump(notebook: nbformat.NotebookNode) -> bytes:
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook)}\n".encode()
