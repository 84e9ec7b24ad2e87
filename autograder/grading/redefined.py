"""Names of locked cells to which a submission gives another meaning.

A test takes those of the locked cells (docs/grading.md, names of locked cells). In one process it would have met the
student's: who loses points there is told to a person.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

import nbformat

from autograder.boundary.locked import STAR, Statement, all_statements, names_in
from autograder.boundary.parsing import syntax_tree, without_magics
from autograder.boundary.scopes import root_of
from autograder.execution import Checks
from autograder.model import CellScore
from autograder.notebook import is_fixed, metadata_of

__all__ = ["MadeOf", "made_of", "redefined", "say_redefined"]

_BUILT_IN = frozenset(dir(builtins))
_LONGEST = 300_000
"""So many characters of all cells are looked at: nobody writes more by hand."""
_SCOPES = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
"""What binds names of its own."""
MadeOf = Mapping[str, frozenset[str]]


def made_of(tests: Mapping[str, str], checks: Checks) -> MadeOf:
    """Return, for each test, the names of locked cells that it uses, and what their functions and classes use.

    Built-in functions too, and what their imports mean: a class with another `sqrt` below it is another class.
    tests: their sources. What a cell that students may change binds in the instructor's notebook is left out.
    """
    found = {}
    for name, source in tests.items():
        parts = all_statements(tuple(checks.cells_above(name)))
        names = _used(source, parts) - checks.theirs
        imports = [part.node for part in parts if isinstance(part.node, ast.Import | ast.ImportFrom)]
        found[name] = frozenset(names | {what for node in imports for _, what in _imported(node)} if names else ())
    return found


def redefined(notebook: nbformat.NotebookNode, of_tests: MadeOf) -> dict[str, frozenset[str]]:
    """Return, for each test, what of that a cell of the student's binds or changes. STAR: what a star import binds."""
    cells = [c.source for c in notebook.cells if c.cell_type == "code" and not is_fixed(metadata_of(c))]
    ends = itertools.accumulate(map(len, cells))
    bound = {found for cell, end in zip(cells, ends, strict=True) if end <= _LONGEST for found in _bound(cell)}
    found = {}
    for test, names in of_tests.items():
        changed = {name for name, how in bound if name in names and how not in names}
        if names and any(name == STAR and how not in names for name, how in bound):
            changed.add(STAR)
        if changed:
            found[test] = frozenset(changed)
    return found


def say_redefined(score: CellScore, names: Collection[str]) -> str:
    """Return how a person is told, who grades."""
    shown = ", ".join("names (import *)" if name == STAR else name for name in sorted(names))
    return (
        f"{score.grade_id!r}: {score.points:g} of {score.max_points:g}, and a cell of the student's gives {shown} "
        "another meaning than the locked cell, whose the test takes: look at it"
    )


def _used(source: str, parts: Sequence[Statement]) -> set[str]:
    used = names_in(source)[0] & {name for part in parts for name in part.binds}
    reached = used.union(*(part.touches for part in parts if part.binds & used))
    defined = [part for part in parts if part.defines and part.name in reached]
    names = {*used, *(name for part in defined for name in (part.name, *part.touches))}
    return names & {*_BUILT_IN, *(name for part in parts for name in part.binds)}


def _bound(source: str) -> Iterator[tuple[str, str]]:
    """Yield the names that a cell binds, or whose attributes it sets, outside of functions; what imports mean."""
    try:
        left: list[ast.AST] = list(syntax_tree(without_magics(source)).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, ""
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node)
        elif isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield root_of(node), ""
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"setattr", "delattr"}:
            yield from ((root_of(part), "") for part in node.args[:1])
        left += () if isinstance(node, _SCOPES) else ast.iter_child_nodes(node)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that is bound, and what it means: `import a.b` binds a, `from a import b` binds what a.b is."""
    for alias in node.names:
        top = alias.name.partition(".")[0]
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"import {'.' * node.level}{node.module or ''}.{alias.name}"
        else:
            yield alias.asname or top, f"import {alias.name if alias.asname else top}"
