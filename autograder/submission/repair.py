"""Reads what a student handed in and restores every cell that is not the student's to change."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import checksum
from autograder.errors import SubmissionError
from autograder.markers import canonical, strip_hidden
from autograder.model import CellSpec
from autograder.notebook import PUT_BACK, grade_id_of
from autograder.submission.file_size import check_size
from autograder.submission.order import put_in_order
from autograder.submission.pictures import attached
from autograder.submission.sanitize_outputs import MAX_BYTES as MAX_OUTPUT_BYTES
from autograder.submission.sanitize_outputs import harmless

__all__ = ["MAX_BYTES", "MAX_CELLS", "Repaired", "parse", "put_aside", "read", "repair", "text_hash"]

MAX_BYTES = 20 * 2**20
"""A notebook larger than this is not read: it holds data or a flood of output, not an answer."""

MAX_CELLS = 5000

_TYPES: dict[str, dict[str, Any]] = {"code": {"execution_count": None, "outputs": []}, "markdown": {}, "raw": {}}
"""What a cell of each type has besides. nbformat's own functions compare each cell with a scheme: a millisecond."""
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ASIDE = "Nothing of this file was run. What was handed in stands at the end, under a heading of its own."
_HINT = "hand in the .ipynb file that JupyterLab saves"


@dataclass(frozen=True)
class Repaired:
    """A submission ready to run: locked and graded cells are the instructor's, the rest is the student's."""

    notebook: nbformat.NotebookNode
    tampered: tuple[str, ...] = ()
    """Locked cells that the student changed, deleted or duplicated, in words."""
    notes: tuple[str, ...] = ()
    """What was repaired that nobody is to blame for."""


def read(path: Path) -> bytes:
    """Return the bytes of a submitted notebook; raise SubmissionError if there is no regular file of sane size.

    Other errors of the file system are let out: what whoever grades may not read is not the student's fault.
    """
    if not os.path.lexists(path):
        raise SubmissionError(f"{path.name}: No such file or directory")
    if path.is_symlink():
        raise SubmissionError(f"{path.name}: a link, not a file", hint="hand in the notebook itself")
    if path.exists() and not path.is_file():  # reading a pipe or a device could wait forever
        raise SubmissionError(f"{path.name}: not a file", hint="hand in the notebook itself")
    if (size := path.stat().st_size) > MAX_BYTES:
        raise SubmissionError(
            f"{path.name}: {size / 2**20:.0f} MiB, more than {MAX_BYTES // 2**20} MiB",
            hint="clear the outputs and hand it in again",
        )
    return path.read_bytes()


def parse(content: bytes, name: str) -> tuple[nbformat.NotebookNode, tuple[str, ...]]:
    """Return the notebook in these bytes as nbformat 4, and notes; raise SubmissionError if it is not one.

    Of each cell only its type, text, id, pasted images and nbgrader's own metadata are kept, and those only if they
    are of the kind that they should be.
    """
    if not content.strip():
        raise SubmissionError(f"{name}: the file is empty", hint=_HINT)
    check_size(content, name)
    try:
        raw = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{name}: not a text file (byte {error.start} is not UTF-8)", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise SubmissionError(f"{name}: not JSON", hint=_HINT) from error
    version = raw.get("nbformat") if isinstance(raw, dict) else None
    if type(version) is int and version > 4:
        raise SubmissionError(f"{name}: saved in a newer format, nbformat {version}", hint="save it as nbformat 4")
    if type(version) is not int or version < 1:
        raise SubmissionError(f"{name}: not a notebook of nbformat 1 to 4", hint=_HINT)
    notes = [f"converted from nbformat {version}"] if version < 4 else []
    cells = raw.get("cells") if version in {1, 4} else _of_worksheets(raw)
    if not isinstance(cells, list):
        raise SubmissionError(f"{name}: not a notebook (it has no list of cells)", hint=_HINT)
    if len(cells) > MAX_CELLS:
        raise SubmissionError(f"{name}: {len(cells)} cells, more than {MAX_CELLS}", hint="delete those that are empty")
    read_cells = [_read_cell(cell if version == 4 else _upgraded(cell)) for cell in cells]
    notes += [f"cell {number} cannot be read: left out" for number, cell in enumerate(read_cells, 1) if cell is None]
    return _notebook([cell for cell in read_cells if cell is not None]), tuple(notes[:20])


def text_hash(source: str) -> str:
    """Return a hash of a cell's text, as nbgrader compares it: without space around it."""
    return hashlib.sha256(source.strip().encode("utf-8", "replace")).hexdigest()


def repair(
    notebook: nbformat.NotebookNode,
    rows: Sequence[CellSpec],
    handed_out: Mapping[str, Collection[str]] | None = None,
    pictures: Mapping[str, Any] | None = None,
) -> Repaired:
    """Return the notebook with the instructor's cells restored; nothing in the student's metadata is believed.

    handed_out: hashes of the texts that each locked cell was ever handed out with. Where they are not known the
    checksum that nbgrader left in the notebook tells an older text from an edited one.
    pictures: the attachments of the instructor's own cells, by grade_id.
    """
    known = {row.grade_id: row for row in rows}
    last = {grade_id_of(cell): number for number, cell in enumerate(notebook.cells)}
    copies = Counter(map(grade_id_of, notebook.cells))
    complaints: list[tuple[CellSpec, str]] = []
    cells: list[nbformat.NotebookNode] = []
    for number, cell in enumerate(notebook.cells):
        row = known.get(grade_id_of(cell))
        if row is None or number != last[row.grade_id]:  # like nbgrader, the last copy is the one that counts
            plain = _new(cell.cell_type, cell.source, cell.get("id"), {}, cell.get("attachments"))
            if cell.cell_type == "code":
                plain.outputs = cell.outputs
            cells.append(plain)
        else:
            images = (pictures or {}).get(row.grade_id) if row.locked else cell.get("attachments")
            source = row.source if row.locked else cell.source
            cells.append(_new(row.cell_type, source, row.grade_id, row.metadata(), images))
            complaints += [(row, change) for change in _changes(cell, row, handed_out)]
    for row in rows:
        if copies[row.grade_id] > 1:
            complaints.append((row, f"cell {row.grade_id!r} is there more than once: the last counts"))
        elif row.grade_id not in copies:
            complaints.append((row, f"cell {row.grade_id!r} was deleted: put back"))
    notes = [words for row, words in complaints if not row.locked]
    if strangers := sum(number for grade_id, number in copies.items() if grade_id and grade_id not in known):
        words = "1 graded cell is" if strangers == 1 else f"{strangers} graded cells are"
        notes.append(f"{words} not part of this lab and run like any other")
    # First: what is put back behind an answer that was moved is out of order, too.
    _insert_missing(cells, rows, pictures or {})
    notes += put_in_order(cells, rows)
    _keep_outputs(cells)
    return Repaired(_notebook(cells), tuple(words for row, words in complaints if row.locked), tuple(notes))


def put_aside(notebook: nbformat.NotebookNode, rows: Sequence[CellSpec]) -> nbformat.NotebookNode:
    """Return the instructor's cells, and below them those of a notebook that lacks metadata, for a person to read.

    nbgrader would give no points for a stub and ask nobody: so each answer that a person grades says where to look.
    """
    cells = [_new(row.cell_type, row.source, row.grade_id, {**row.metadata(), **PUT_BACK}) for row in rows]
    for cell, row in zip(cells, rows, strict=True):
        if row.grade and not row.automatic:
            cell.source = f"{cell.source}\n\n{f'# {_ASIDE}' if row.cell_type == 'code' else f'_{_ASIDE}_'}"
    cells.append(_new("markdown", "## What was handed in", None, {}))
    for cell in notebook.cells:
        cells.append(_new(cell.cell_type, cell.source, cell.get("id"), {}, cell.get("attachments")))
        if cell.cell_type == "code":
            cells[-1].outputs = cell.outputs
    _keep_outputs(cells)
    return _notebook(cells)


def _keep_outputs(cells: Sequence[nbformat.NotebookNode]) -> None:
    """Bound what is kept of all outputs together; those of cells that are run are replaced then."""
    left = 10 * MAX_OUTPUT_BYTES
    for cell in cells:
        if cell.cell_type == "code" and cell.outputs:
            cell.outputs = harmless(cell.outputs, min(left, MAX_OUTPUT_BYTES)) if left > 0 else []
            left -= len(str(cell.outputs))


# ------------------------------------------------------------------------------------------------------------- reading
def _of_worksheets(raw: dict[str, Any]) -> list[Any] | None:
    """Return the cells of a notebook of nbformat 2 or 3; None if it has none."""
    sheets = raw.get("worksheets")
    found = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)] if isinstance(sheets, list) else []
    return [cell for cells in found if isinstance(cells, list) for cell in cells] if found else None


def _upgraded(cell: Any) -> Any:
    """Return a cell of an older format as one of today's. nbformat takes a hundred times the file's size to do that."""
    if not isinstance(cell, dict) or not isinstance(kind := cell.get("cell_type"), str):
        return cell
    text = next((cell[key] for key in ("input", "source", "code", "text") if key in cell), "")
    if kind == "heading" and type(level := cell.get("level", 1)) is int:
        lines = text if isinstance(text, str | list) else []
        words = "".join(line for line in lines if isinstance(line, str))
        return {**cell, "cell_type": "markdown", "source": f"{'#' * min(max(level, 1), 6)} {words}"}
    return {**cell, "cell_type": "markdown" if kind in {"html", "text"} else kind, "source": text}


def _read_cell(raw: Any) -> nbformat.NotebookNode | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("cell_type"), str) or raw["cell_type"] not in _TYPES:
        return None
    source = raw.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    metadata = raw.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    kept = {}
    if isinstance(nbgrader, dict):
        kept = {key: value for key, value in nbgrader.items() if isinstance(value, str | int | float)}
    attachments = raw.get("attachments") if raw["cell_type"] == "markdown" else None
    node = _new(raw["cell_type"], _text(source), raw.get("id"), {"nbgrader": kept} if kept else {}, attachments)
    if raw["cell_type"] == "code":
        node.outputs = harmless(raw.get("outputs"))
    return node


def _text(source: str) -> str:
    """Return text that can be written as UTF-8, with the line ends of a notebook."""
    return source.encode("utf-8", "replace").decode().replace("\r\n", "\n")


# ----------------------------------------------------------------------------------------------------------- restoring
def _new(
    cell_type: str, source: str, cell_id: object, metadata: dict[str, Any], attachments: object = None
) -> nbformat.NotebookNode:
    name = cell_id if isinstance(cell_id, str) and _CELL_ID.fullmatch(cell_id) else ""
    cell = {"id": name, "cell_type": cell_type, "metadata": metadata, "source": source, **_TYPES[cell_type]}
    node: nbformat.NotebookNode = nbformat.from_dict(cell)
    if cell_type == "markdown" and (pictures := attached(attachments)):
        node.attachments = nbformat.from_dict(pictures)
    return node


def _changes(cell: nbformat.NotebookNode, row: CellSpec, handed_out: Mapping[str, Collection[str]] | None) -> list[str]:
    """Return what a student did to a known cell and should not have done, in words."""
    if cell.cell_type != row.cell_type:
        return [f"cell {row.grade_id!r} was made a {cell.cell_type} cell: restored"]
    if row.locked and _was_changed(cell, row, handed_out):
        return [f"locked cell {row.grade_id!r} was changed: restored"]
    return []


def _was_changed(cell: nbformat.NotebookNode, row: CellSpec, handed_out: Mapping[str, Collection[str]] | None) -> bool:
    """Whether a student edited a locked cell; one handed out before the instructor fixed it is not an edit."""
    if {cell.source.strip(), canonical(cell.source).strip()} & {row.source.strip(), strip_hidden(row.source).strip()}:
        return False
    if handed_out is not None:  # the checksum stands in the student's file, and anybody can compute it
        return text_hash(cell.source) not in handed_out.get(row.grade_id, ())
    try:
        return bool(checksum(cell) != cell.metadata.nbgrader.get("checksum"))
    except (KeyError, TypeError, ValueError, OverflowError):  # points that are none
        return True


def _insert_missing(cells: list[nbformat.NotebookNode], rows: Sequence[CellSpec], pictures: Mapping[str, Any]) -> None:
    """Put deleted cells back, each after the one that precedes it in the source."""
    after = -1
    present = {grade_id_of(cell) for cell in cells}
    for row in rows:
        if row.grade_id in present:
            after = next(i for i, cell in enumerate(cells) if grade_id_of(cell) == row.grade_id)
            continue
        after += 1
        images, about = pictures.get(row.grade_id), {**row.metadata(), **PUT_BACK}
        cells.insert(after, _new(row.cell_type, _put_back(row), row.grade_id, about, images))


def _put_back(row: CellSpec) -> str:
    """Return the text of a deleted cell; that of an answer is not run: the student's may stand in another cell."""
    if row.cell_type != "code" or row.locked or row.automatic:
        return row.source
    return "\n".join(["# This cell was deleted. It began with:", *(f"# {line}" for line in row.source.splitlines())])


def _notebook(cells: list[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    """Return a notebook of these cells, each with an id of its own; the first to have one keeps it."""
    taken: set[str] = set()
    for number, cell in enumerate(cells, 1):
        names = (f"cell-{number}-{i}" if i else f"cell-{number}" for i in count())
        cell.id = cell.id if cell.id and cell.id not in taken else next(name for name in names if name not in taken)
        taken.add(cell.id)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata=nbformat.from_dict({"kernelspec": kernel}))
