"""Functions and classes of locked cells to which a submission gives another meaning.

A test takes those of the locked cells (docs/grading.md, names of locked cells). In one process it would have met the
student's: who loses points there is told to a person.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Mapping, Sequence

import nbformat

from autograder.boundary.locked import STAR, Statement, all_statements, names_in, only_imports
from autograder.execution import Checks
from autograder.model import CellScore
from autograder.notebook import metadata_of

__all__ = ["redefined", "say_redefined"]

_BUILT_IN = frozenset(dir(builtins))


def redefined(notebook: nbformat.NotebookNode, tests: Mapping[str, str], checks: Checks) -> dict[str, frozenset[str]]:
    """Return, for each test, what a cell of the student's binds or changes of the functions and classes that it uses.

    And of what these use themselves, built-in functions too: a class with another `sqrt` below it is another class.
    STAR stands for what a star import binds.
    tests: their sources. What a cell that students may change binds in the instructor's notebook is left out.
    """
    own = [part for source in _open_cells(notebook) for part in all_statements((source,))]
    found: dict[str, frozenset[str]] = {}
    for name, source in tests.items() if own else ():
        parts = all_statements(tuple(checks.cells_above(name)))
        imported = {ast.unparse(part.node) for part in parts if only_imports(part.node)}
        changed = {n for part in own for n in part.binds if not _one_of(part.node, imported)} - checks.theirs
        made_of = _made_of(source, parts)
        names = changed & made_of | ({STAR} if made_of and STAR in changed else set())
        if names:
            found[name] = frozenset(names)
    return found


def say_redefined(score: CellScore, names: Collection[str]) -> str:
    """Return how a person is told, who grades."""
    shown = ", ".join("names (import *)" if name == STAR else name for name in sorted(names))
    return (
        f"{score.grade_id!r}: {score.points:g} of {score.max_points:g}, and a cell of the student's gives {shown} "
        "another meaning than the locked cell, whose the test takes: look at it"
    )


def _open_cells(notebook: nbformat.NotebookNode) -> list[str]:
    def fixed(about: Mapping[str, object]) -> bool:
        return bool((about.get("grade") or about.get("locked")) and not about.get("solution"))

    return [c.source for c in notebook.cells if c.cell_type == "code" and not fixed(metadata_of(c))]


def _one_of(node: ast.stmt, imported: Collection[str]) -> bool:
    """Whether a statement imports what a locked cell does, too."""
    return only_imports(node) and ast.unparse(node) in imported


def _made_of(source: str, parts: Sequence[Statement]) -> set[str]:
    """Return the functions and classes of locked cells that a test uses, with all that they use of these cells."""
    used = names_in(source)[0]
    reached = used.union(*(part.touches for part in parts if part.binds & used))
    defined = [part for part in parts if part.defines and part.name in reached]
    names = {name for part in defined for name in (part.name, *part.touches)}
    return names & {*_BUILT_IN, *(name for part in parts for name in part.binds)}
