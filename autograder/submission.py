"""Reads what a student handed in and restores every cell that is not the student's to change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import checksum
from autograder.errors import SubmissionError
from autograder.model import SourceCellRow
from autograder.stub import strip_hidden

__all__ = ["MAX_BYTES", "Repaired", "parse", "read", "repair"]

MAX_BYTES = 20 * 2**20
"""A notebook larger than this is not read: it holds data or a flood of output, not an answer."""


_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Repaired:
    """A submission ready to run: locked and graded cells are the instructor's, the rest is the student's."""

    notebook: nbformat.NotebookNode
    tampered: tuple[str, ...] = ()
    """Locked cells that the student changed, deleted or duplicated, in words."""
    notes: tuple[str, ...] = ()
    """What was repaired that nobody is to blame for."""


def read(path: Path) -> bytes:
    """Return the bytes of a submitted notebook; raise SubmissionError if there is no regular file of sane size."""
    if path.is_symlink():
        raise SubmissionError(f"{path.name}: a link, not a file", hint="ask for the notebook itself")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SubmissionError(
                f"{path.name}: {path.stat().st_size / 2**20:.0f} MiB, more than {MAX_BYTES // 2**20} MiB",
                hint="clear the outputs and hand it in again",
            )
        return path.read_bytes()
    except OSError as error:
        raise SubmissionError(f"{path.name}: {error.strerror}") from error


def parse(content: bytes, name: str) -> tuple[nbformat.NotebookNode, tuple[str, ...]]:
    """Return the notebook in these bytes as nbformat 4, and notes; raise SubmissionError if it is none."""
    hint = "ask for the .ipynb file that JupyterLab saves"
    if not content.strip():
        raise SubmissionError(f"{name}: the file is empty", hint=hint)
    try:
        text = content.decode("utf-8-sig")
        raw = nbformat.reader.reads(text)
        version = int(raw.get("nbformat", 0))
        notebook = nbformat.convert(raw, 4)
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{name}: not a text file (byte {error.start} is not UTF-8)", hint=hint) from error
    except nbformat.reader.NotJSONError as error:
        raise SubmissionError(f"{name}: not JSON", hint=hint) from error
    except Exception as error:  # nbformat's converters fail in many ways on what is no notebook
        raise SubmissionError(f"{name}: not a notebook ({type(error).__name__}: {error})", hint=hint) from error
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(_is_cell(cell) for cell in cells):
        raise SubmissionError(f"{name}: not a notebook (it has no proper list of cells)", hint=hint)
    notes = (f"converted from nbformat {version}",) if version < 4 else ()
    return notebook, notes


def repair(notebook: nbformat.NotebookNode, rows: Sequence[SourceCellRow]) -> Repaired:
    """Return the notebook with the instructor's cells restored; nothing in the student's metadata is believed."""
    known = {row.grade_id: row for row in rows}
    tampered: list[str] = []
    notes: list[str] = []
    last = {_grade_id(cell): number for number, cell in enumerate(notebook.cells)}
    cells: list[nbformat.NotebookNode] = []
    for number, cell in enumerate(notebook.cells):
        grade_id = _grade_id(cell)
        row = known.get(grade_id)
        if row is None:
            cells.append(_plain(cell))
            if grade_id:
                notes.append(f"cell {grade_id!r} is not part of this lab: run as an ordinary cell")
        elif number != last[grade_id]:  # like nbgrader, the last copy is the one that counts
            cells.append(_plain(cell))
            tampered.append(f"cell {grade_id!r} is there more than once: the last copy counts")
        else:
            cells.append(_restored(cell, row, tampered))
    _insert_missing(cells, rows, tampered)
    result = nbformat.v4.new_notebook(cells=cells)
    result.metadata = nbformat.from_dict(
        {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    )
    return Repaired(_with_unique_ids(result), tuple(tampered), tuple(notes))


def _is_cell(cell: Any) -> bool:
    return (
        isinstance(cell, dict)
        and cell.get("cell_type") in {"code", "markdown", "raw"}
        and isinstance(cell.get("source"), str)
        and isinstance(cell.get("metadata", {}), dict)
        and isinstance(cell.get("metadata", {}).get("nbgrader", {}), dict)
    )


def _grade_id(cell: nbformat.NotebookNode) -> str:
    grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
    return grade_id if isinstance(grade_id, str) else ""


def _new(cell_type: str, source: str, cell_id: object, metadata: dict[str, Any]) -> nbformat.NotebookNode:
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    node = make.get(cell_type, nbformat.v4.new_raw_cell)(source)
    if isinstance(cell_id, str) and _CELL_ID.fullmatch(cell_id):
        node.id = cell_id
    node.metadata = nbformat.from_dict(metadata)
    return node


def _plain(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A cell of the student's own: its text only; tags such as skip-execution and old outputs are dropped."""
    return _new(cell.cell_type, cell.source, cell.get("id"), {})


def _restored(cell: nbformat.NotebookNode, row: SourceCellRow, tampered: list[str]) -> nbformat.NotebookNode:
    if cell.cell_type != row.cell_type:
        tampered.append(f"cell {row.grade_id!r} was made a {cell.cell_type} cell: restored")
    if row.locked and _was_changed(cell, row):
        tampered.append(f"locked cell {row.grade_id!r} was changed: restored")
    source = row.source if row.locked else cell.source
    return _new(row.cell_type, source, cell.get("id"), row.metadata())


def _was_changed(cell: nbformat.NotebookNode, row: SourceCellRow) -> bool:
    """Whether a student edited a locked cell; one handed out before the instructor mended it is not an edit."""
    if cell.source.strip() in {row.source.strip(), strip_hidden(row.source).strip()}:
        return False
    try:
        return bool(checksum(cell) != cell.metadata.nbgrader.get("checksum"))
    except (AttributeError, KeyError, TypeError, ValueError):
        return True


def _insert_missing(cells: list[nbformat.NotebookNode], rows: Sequence[SourceCellRow], tampered: list[str]) -> None:
    """Put deleted cells back, each after the one that precedes it in the source."""
    after = -1
    places = {_grade_id(cell): cell for cell in cells}
    for row in rows:
        if row.grade_id in places:
            after = next(i for i, cell in enumerate(cells) if cell is places[row.grade_id])
            continue
        after += 1
        cells.insert(after, _new(row.cell_type, row.source, None, row.metadata()))
        tampered.append(f"cell {row.grade_id!r} was deleted: put back")


def _with_unique_ids(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    seen: set[str] = set()
    for cell in notebook.cells:
        if cell.id in seen:
            cell.id = nbformat.v4.new_code_cell().id
        seen.add(cell.id)
    return notebook
