"""Functions and classes of locked cells to which a submission gives another meaning.

A test takes those of the locked cells (docs/grading.md, names of locked cells). In one process it would have met the
student's: who loses points there is told to a person.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

import nbformat

from autograder.boundary.locked import all_statements, names_in
from autograder.execution import Checks
from autograder.model import CellScore
from autograder.notebook import metadata_of

__all__ = ["redefined", "say_redefined"]


def redefined(notebook: nbformat.NotebookNode, tests: Mapping[str, str], checks: Checks) -> dict[str, frozenset[str]]:
    """Return, for each test, the functions and classes that it uses and that a cell of the student's binds or changes.

    tests: their sources. What a cell that students may change binds in the instructor's notebook is left out.
    """
    changed = frozenset[str]().union(*map(_changed, _open_cells(notebook))) - checks.theirs
    found: dict[str, frozenset[str]] = {}
    for name, source in tests.items() if changed else ():
        given = checks.cells_above(name)
        if names := changed & _defined(given) & _reached(source, given):
            found[name] = names
    return found


def say_redefined(score: CellScore, names: Collection[str]) -> str:
    """Return how a person is told, who grades."""
    return (
        f"{score.grade_id!r}: {score.points:g} of {score.max_points:g}, and a cell of the student's gives "
        f"{', '.join(sorted(names))} another meaning than the locked cell, whose the test takes: look at it"
    )


def _open_cells(notebook: nbformat.NotebookNode) -> list[str]:
    def fixed(about: Mapping[str, object]) -> bool:
        return bool((about.get("grade") or about.get("locked")) and not about.get("solution"))

    return [c.source for c in notebook.cells if c.cell_type == "code" and not fixed(metadata_of(c))]


def _changed(source: str) -> frozenset[str]:
    """Return the names that a cell binds at its top, and those whose attributes it sets; imports do not count."""
    return frozenset(name for part in all_statements((source,)) for name in part.binds if not _imports(part.node))


def _imports(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _defined(cells: Sequence[str]) -> frozenset[str]:
    return frozenset(part.name for part in all_statements(tuple(cells)) if part.defines)


def _reached(source: str, cells: Sequence[str]) -> frozenset[str]:
    """Return the names that a test uses, and those that functions and classes of locked cells use that it uses."""
    used = names_in(source)[0]
    parts = all_statements(tuple(cells))
    return used.union(*(part.touches for part in parts if part.binds & used))
