"""The instructor's notebook with nothing answered, or half of it: what a test gives there it gives for nothing."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import nbformat

from autograder.model import CellSpec
from autograder.notebook import grade_id_of

__all__ = ["unanswered_of"]


def unanswered_of(notebook: nbformat.NotebookNode, rows: Sequence[CellSpec]) -> Iterator[nbformat.NotebookNode]:
    """Yield the notebook as students receive it, with nothing where they may write, and each half of it done."""
    stubs = {row.grade_id: row.source for row in rows if row.solution and row.cell_type == "code"}
    fixed = {row.grade_id for row in rows if row.locked or row.automatic}
    for stub in (lambda cell: stubs.get(grade_id_of(cell), cell.source), lambda _: ""):
        copied = copy.deepcopy(notebook)
        written = [c for c in copied.cells if c.cell_type == "code" and grade_id_of(c) not in fixed]
        for cell in written:
            cell.source = stub(cell)
        if written:
            yield copied
    for undone in (set(list(stubs)[::2]), set(list(stubs)[1::2])) if len(stubs) > 1 else ():
        copied = copy.deepcopy(notebook)
        for cell in copied.cells:
            if grade_id_of(cell) in undone:
                cell.source = stubs[grade_id_of(cell)]
        yield copied
