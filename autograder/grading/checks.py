"""What a run of a notebook is told of its test cells: where each runs, and what locked cells give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.boundary.given import imports, names_given
from autograder.execution import Checks
from autograder.markers import EXPLORE, strip_hidden
from autograder.model import CellSpec

__all__ = ["checks_of"]


def checks_of(
    rows: Sequence[CellSpec],
    isolated: frozenset[str] | None = None,
    files: Mapping[str, Path] | None = None,
    others: Sequence[str] = (),
    levels: Mapping[str, int] | None = None,
) -> Checks:
    """Return where the tests among these cells run; all of them apart unless isolated says which.

    others: the instructor's cells that students may change, beside the solution cells as they were handed out.
    """
    open_cells = [row.source for row in rows if row.solution and row.cell_type == "code"] + list(others)
    tests = frozenset(row.grade_id for row in rows if row.automatic)
    isolated = tests if isolated is None else isolated
    return Checks(
        isolated=isolated,
        guarded=tests - isolated,
        files=files or {},
        given=_given(rows, imports(open_cells)),
        theirs=names_given(open_cells, imported=False),
        levels=levels or {},
    )


def _given(rows: Sequence[CellSpec], imported: str) -> dict[str, tuple[str, ...]]:
    """Return, for each test, the locked cells above it that are run when grading, and what other cells import.

    A test above is such a cell by what it imports where students see it.
    """
    above: list[str] = [imported] if imported else []
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        if row.automatic:
            found[row.grade_id] = tuple(above)
            if shown := imports([strip_hidden(row.source)]):
                above.append(shown)
        elif row.locked and row.cell_type == "code" and not row.source.startswith(EXPLORE):
            above.append(row.source)
    return found
