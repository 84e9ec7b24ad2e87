"""What a run of a notebook is told of its test cells: where each runs, and what locked cells give it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import nbformat

from autograder.boundary.given import imports, left_by_test, names_given, names_needed
from autograder.execution import Checks
from autograder.grading.standings import Standing
from autograder.markers import EXPLORE, strip_hidden
from autograder.model import CellSpec
from autograder.notebook import grade_id_of, metadata_of

__all__ = ["checks_of", "in_open_cells"]


def checks_of(
    rows: Sequence[CellSpec],
    isolated: frozenset[str] | None = None,
    files: Mapping[str, Path] | None = None,
    others: Sequence[str] = (),
    standings: Mapping[str, Standing] | None = None,
    kept: Mapping[str, frozenset[str]] | None = None,
    solved: Collection[str] = (),
) -> Checks:
    """Return where the tests among these cells run; all of them apart unless isolated says which.

    standings: whose the names of locked cells are, for each test. kept: those for which a test runs in the kernel.
    others: the instructor's cells that students may change, beside the solution cells as they were handed out.
    solved: those of them that students do not receive as they are: what they import is not told to a student's process.
    """
    shown = [row.source for row in rows if row.solution and row.cell_type == "code"]
    shown += [source for source in others if source not in solved]
    open_cells = [row.source for row in rows if row.solution and row.cell_type == "code"] + list(others)
    tests = frozenset(row.grade_id for row in rows if row.automatic)
    isolated = tests if isolated is None else isolated
    return Checks(
        isolated=isolated,
        guarded=tests - isolated,
        files=files or {},
        given=_given(rows, imports(shown)),
        imported=imports([source for source in others if source in solved]),
        theirs=names_given(open_cells, imported=False),
        levels={name: standing.level for name, standing in (standings or {}).items()},
        again={name: standing.again for name, standing in (standings or {}).items()},
        kept=kept or {},
        live={name: standing.live for name, standing in (standings or {}).items()},
        wide=frozenset(name for name, standing in (standings or {}).items() if standing.wide),
    )


def _given(rows: Sequence[CellSpec], imported: str) -> dict[str, tuple[str, ...]]:
    """Return, for each test, the locked cells above it that are run when grading, and what other cells import.

    A test above is such a cell by what students see of it: in a notebook it has run.
    """
    above: list[str] = [imported] if imported else []
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        if row.automatic:
            found[row.grade_id] = tuple(above)
            if left := left_by_test(strip_hidden(row.source)):
                above.append(left)
        elif row.locked and row.cell_type == "code" and not row.source.startswith(EXPLORE):
            above.append(row.source)
    return found


def in_open_cells(rows: Sequence[CellSpec], cells: Sequence[nbformat.NotebookNode]) -> Iterator[str]:
    """Yield, as a note each, what tests use of the instructor's cells that students may change and need not.

    cells: the instructor's notebook.
    """
    tests = {row.grade_id: row for row in rows if row.automatic}
    ours = {row.grade_id for row in rows if row.locked or row.automatic}
    where: dict[str, int] = {}
    for number, cell in enumerate(cells, 1):
        if grade_id_of(cell) in tests:
            needed = names_needed(tests[grade_id_of(cell)].source)
            for name in sorted(needed & where.keys()):
                yield (
                    f"'{grade_id_of(cell)}' uses {name} of cell {where[name]}, which students may change:"
                    " it means what they make of it; lock that cell"
                )
        elif cell.cell_type == "code":
            own = names_given([cell.source], imported=False)
            helps = not metadata_of(cell).get("solution") and grade_id_of(cell) not in ours
            where = {name: place for name, place in where.items() if name not in own}
            where |= dict.fromkeys(own, number) if helps else {}
