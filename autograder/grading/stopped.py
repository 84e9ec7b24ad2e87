"""Cells of a student's that ended in an error, so that what they define is missing in the tests below them."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence

import nbformat

from autograder.boundary.parsing import syntax_tree, without_magics
from autograder.notebook import grade_id_of, metadata_of, students_own
from autograder.submission.sanitize_outputs import plain

__all__ = ["JOINED", "PLACE", "stopped_above"]

PLACE = re.compile(r"^Cell In\[\d{1,9}\], line (\d{1,6})")
"""Where IPython's traceback begins. Whatever else it may be, it is a number of a line that the student can read."""
JOINED = "; cell "
"""What stands between what a test says and the first cell that ended early: one reason may be that of many tests."""
_MISSING = re.compile(r"No module named '[\w.]{1,60}'|name '\w{1,60}' is not defined")
"""What Python says of what is not there, in so many words."""
_UNREAD = {"IndentationError", "SyntaxError", "TabError"}
_STUB = "NotImplementedError"
_LONGEST = 20_000
_MAX_CELLS = 3


def stopped_above(cells: Sequence[nbformat.NotebookNode], *, readable: bool) -> dict[str, str]:
    """Return, for each test by its grade_id, which cells of the student's between it and the one above ended early.

    cells: those of a notebook that was run. readable: their code may have read hidden lines of a test: then nothing is
    told but what Python says of the student's own text.
    """
    found: dict[str, str] = {}
    above: list[str] = []
    for number, cell in enumerate(cells, 1):
        if cell.cell_type != "code":
            continue
        if metadata_of(cell).get("grade") and not metadata_of(cell).get("solution"):
            found |= {grade_id_of(cell): "; ".join(above[:_MAX_CELLS])} if above else {}
            above = []
        elif students_own(cell):
            name = f"'{grade_id_of(cell)}'" if grade_id_of(cell) else f"{number} of the notebook"
            above += [f"cell {name} {why}" for why in _why(cell, readable)]
    return found


def _why(cell: nbformat.NotebookNode, readable: bool) -> Iterator[str]:
    error = next((output for output in cell.outputs if output.output_type == "error"), None)
    if error is None or error.ename == _STUB:
        return
    if error.ename in _UNREAD and (why := _no_python(cell.source)):
        yield f"cannot be read as Python, so nothing of it was run: {why}"
    elif not readable and isinstance(getattr(builtins, error.ename, None), type):
        place = next((match for line in error.traceback if (match := PLACE.search(plain(line)))), None)
        missing = _MISSING.match(plain(error.evalue))
        where, what = f" in line {place[1]}" if place else "", f": {missing[0]}" if missing else ""
        yield f"ended in {error.ename}{where}{what}"


def _no_python(source: str) -> str:
    """Return what Python says of a text that it cannot read; nothing of one that it can."""
    if len(source) > _LONGEST:
        return ""
    try:
        syntax_tree(without_magics(source))
    except SyntaxError as error:
        return f"{type(error).__name__} in line {error.lineno or 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        pass
    return ""
