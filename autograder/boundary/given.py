"""What the locked cells of a notebook, and the visible parts of tests, give to the tests below them.

A locked cell imports NumPy, loads data, defines a helper. In a notebook these names lie where the student's code can
rebind them: `np.allclose = lambda *_: True`. So what no code of the student's can have a say in is made again on the
trusted side, for each test that uses it; functions that need the student's names are defined again, from the locked
text, where they must run. What students see of a test is locked text as well.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import re
import symtable
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autograder.boundary.parsing import MAGIC, syntax_tree
from autograder.boundary.scopes import looked_up, written_to

__all__ = [
    "DATA",
    "FUNCTIONS",
    "IMPORTS",
    "NOTHING",
    "asked_of_kernel",
    "brought_along",
    "definitions",
    "global_names",
    "imports",
    "left_by_test",
    "names_given",
    "names_in",
    "names_needed",
    "say_names",
    "statements",
    "trusted_names",
]

NOTHING, IMPORTS, DATA, FUNCTIONS = range(4)
"""How much of the locked cells is the grader's: nothing; imports; data as well; functions as well."""

_IMPORTS = ast.Import | ast.ImportFrom
_BINDING = _IMPORTS | ast.Assign | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
"""What binds its names whenever it is run to its end, which a loop or a condition does not."""
_BLOCKS = ast.With | ast.For | ast.While | ast.If | ast.Try
_STAR = "*"
_MAX_SOURCE = 200_000
_BUILT_IN = frozenset(dir(builtins))


@dataclass(frozen=True)
class _Statement:
    """One statement at the top of a locked cell: what it gives a meaning to, and which names it needs for that."""

    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]


def trusted_names(cells: Sequence[str], theirs: Collection[str], level: int, test: str) -> Mapping[str, Any]:
    """Return the names of locked cells that a test uses and that are the grader's, with their values, made now.

    cells: the locked cells above the test, and what others import. theirs: names that the student's cells bind in the
    instructor's notebook.
    A statement is the grader's if all that it needs is; classes never are, because their instances go to the student's
    code, which knows its own. Raises what the statements raise.
    """
    ours = _ours(tuple(cells), frozenset(theirs), level, expand=True)
    wanted = names_needed(test) & {name for statement in ours for name in statement.binds}
    if not wanted:
        return {}
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    for statement in _needed(ours, wanted):
        exec(compile(ast.Module([statement.node], []), "<given>", "exec"), space)
    return {name: space[name] for name in wanted if name in space}


def brought_along(cells: Sequence[str], theirs: Collection[str], test: str) -> str:
    """Return the text of what a test brings along of the locked cells above it, if it can; nothing is imported."""
    ours = _ours(tuple(cells), frozenset(theirs), FUNCTIONS, expand=False)
    wanted = names_needed(test) & {name for statement in ours for name in statement.binds}
    stars = [statement for statement in ours if _STAR in statement.binds]
    return "\n".join(ast.unparse(statement.node) for statement in [*stars, *_needed(ours, wanted)])


def definitions(cells: Sequence[str], theirs: Collection[str], test: str) -> list[list[str]]:
    """Return what can be defined twice, as text, in order: each cell's imports, and the functions that a test uses."""
    used = _reached(cells, global_names(test))
    kept = [
        [s for s in _all((cell,)) if not s.binds & set(theirs) and _defines(s) and (_imports(s.node) or s.binds & used)]
        for cell in cells
    ]
    return [[ast.unparse(statement.node) for statement in some] for some in kept if some]


def asked_of_kernel(cells: Sequence[str], theirs: Collection[str], level: int, test: str) -> frozenset[str]:
    """Return the names of these cells that must stand in the student's process for this test to find them there.

    What is the grader's is not asked for there, and functions are defined again: but these look up names there, too.
    """
    ours = {name for s in _ours(tuple(cells), frozenset(theirs), level, expand=False) for name in s.binds}
    defined = {name for s in _all(tuple(cells)) if _defines(s) for name in s.binds}
    return (_reached(cells, _surely_needed(test) - ours) - defined) & names_given(cells)


def _reached(cells: Sequence[str], names: frozenset[str]) -> frozenset[str]:
    """Return these names and those that their statements look up, and so on."""
    found, more = frozenset[str](), names
    while more - found:
        found |= more
        more = frozenset(name for s in _all(tuple(cells)) if s.binds & found for name in s.uses)
    return found


def _defines(statement: _Statement) -> bool:
    return isinstance(statement.node, _IMPORTS | ast.FunctionDef)


def left_by_test(shown: str) -> str:
    """Return what a test's visible part leaves to the cells below it, as the text of a locked cell.

    Its checks have been made: asserts, and what reports by labkit's check.
    """
    parts = _all((shown,))
    reporting = {name for s in parts if _imports(s.node) and "labkit" in ast.unparse(s.node) for name in s.binds}
    checks = [s for s in parts if isinstance(s.node, ast.Assert) or (not _defines(s) and s.uses & reporting)]
    return "\n".join(ast.unparse(s.node) for s in parts if s not in checks)


def names_given(cells: Sequence[str], *, imported: bool = True) -> frozenset[str]:
    """Return all names that these cells bind at their top; of `from x import *` the star.

    imported: count what they import as well.
    """
    kept = [s for s in _all(tuple(cells)) if imported or not _imports(s.node)]
    return frozenset(name for statement in kept for name in statement.binds)


def imports(cells: Sequence[str]) -> str:
    """Return the import statements at the top of these cells, as the text of one cell."""
    return "\n".join(ast.unparse(s.node) for s in _all(tuple(cells)) if _imports(s.node))


def _imports(node: ast.stmt) -> bool:
    """Whether a statement imports and does nothing else, if need be after having tried another import."""
    if not isinstance(node, ast.Try):
        return isinstance(node, _IMPORTS)
    within = [*node.body, *node.orelse, *node.finalbody, *(part for handler in node.handlers for part in handler.body)]
    return all(isinstance(part, _IMPORTS | ast.Pass | ast.Raise) for part in within)


def statements(source: str) -> list[ast.stmt]:
    """Return the statements at the top of a cell; none if it is no Python. Lines of IPython count as `pass`."""
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        lines = ["pass"] if not lines[0].startswith(("%%time", "%%capture")) else ["pass", *lines[1:]]
    try:
        return syntax_tree("\n".join(_masked(lines))).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def _masked(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with those of IPython as `pass`, and what a backslash at their end adds to them as nothing."""
    going_on = False
    for line in lines:
        magic = None if going_on else MAGIC.match(line)
        yield "" if going_on else f"{magic[1]}pass" if magic else line
        going_on = bool(magic or going_on) and line.endswith("\\")


def global_names(source: str) -> frozenset[str]:
    """Return the names that a cell looks up among its globals, in functions too; also what it binds itself."""
    try:
        return frozenset(looked_up(symtable.symtable(source, "<cell>", "exec")))
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(re.findall(r"[^\W\d]\w*", source))


def names_needed(test: str) -> frozenset[str]:
    """Return the names that a test looks up and that it has not bound itself before, as far as its text tells."""
    if not (parts := _all((test,))):
        return global_names(test)
    needed, bound = set[str](), set[str]()
    for statement in parts:
        needed |= statement.uses - bound
        if isinstance(statement.node, _BINDING):
            bound |= statement.binds
    return frozenset(needed)


def _surely_needed(test: str) -> frozenset[str]:
    """Return the names that a test looks up and nowhere binds itself before: what it can only have from elsewhere.

    A block binds a name before it uses it, and a function is called when all of the cell has run, unless it says
    otherwise by failing: what is missing then is missing in the trial, too.
    """
    needed, later, bound = set[str](), set[str](), set[str]()
    for statement in _all((test,)):
        if isinstance(statement.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            later |= statement.uses
        else:
            needed |= statement.uses - bound - (statement.binds if isinstance(statement.node, _BLOCKS) else set())
        bound |= statement.binds
    return frozenset(needed | later - bound)


def names_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a student's cell looks up among its globals, in functions too, and those that it binds.

    Nothing where it cannot be said: no text makes this fail.
    """
    if len(source) > _MAX_SOURCE:
        return frozenset(), frozenset()
    try:
        table = symtable.symtable("\n".join(_masked(source.split("\n"))), "<cell>", "exec")
        bound = frozenset(s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported())
        return frozenset(looked_up(table)), bound
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(), frozenset()


def say_names(source: str, names: Sequence[str]) -> None:
    """Print, as JSON, which of these names a cell looks up and which it binds; in the student's process."""
    print(json.dumps([sorted(found & set(names)) for found in names_in(source)]))


# ------------------------------------------------------------------------------------------------------------ analysis
def _star_names(node: ast.ImportFrom) -> frozenset[str]:
    """Return what `from x import *` binds; where x cannot be imported, nothing."""
    try:
        module = importlib.import_module(node.module or "")
    except Exception:  # a module of the student's, or one that is not installed
        return frozenset()
    public = getattr(module, "__all__", None)
    return frozenset(public if public is not None else (name for name in vars(module) if not name.startswith("_")))


def _statement(node: ast.stmt, *, expand: bool) -> _Statement:
    if isinstance(node, ast.ImportFrom) and node.names[0].name == _STAR:
        return _Statement(node, _star_names(node) if expand else frozenset([_STAR]), frozenset())
    source = ast.unparse(node)
    table = symtable.symtable(source, "<cell>", "exec")
    bound = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    changed = frozenset(written_to(syntax_tree(source), table))
    added = {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    return _Statement(node, frozenset(bound | changed), frozenset({*looked_up(table), *changed, *(added & bound)}))


@lru_cache(maxsize=64)
def _all(cells: tuple[str, ...], expand: bool = False) -> tuple[_Statement, ...]:
    """expand: import the modules of star imports, to know what they bind; only the trusted process does."""
    return tuple(_statement(node, expand=expand) for source in cells for node in statements(source))


def _may_be_ours(node: ast.stmt, level: int) -> bool:
    if level == NOTHING or isinstance(node, ast.ClassDef):
        return False
    if level == IMPORTS:
        return _imports(node)
    return level == FUNCTIONS or not isinstance(node, ast.FunctionDef)


@lru_cache(maxsize=64)
def _ours(cells: tuple[str, ...], theirs: frozenset[str], level: int, expand: bool) -> tuple[_Statement, ...]:
    """Return the statements that need nothing but each other and built-in names."""
    left = [s for s in _all(cells, expand) if _may_be_ours(s.node, level)]
    foreign = set(theirs) | {name for s in _all(cells, expand) if s not in left for name in s.binds}
    while True:
        bound = {name for s in left for name in s.binds} - foreign
        kept = [s for s in left if not s.binds & foreign and s.uses <= bound | _BUILT_IN]
        if len(kept) == len(left):
            return tuple(kept)
        foreign |= {name for s in left if s not in kept for name in s.binds}
        left = kept


def _needed(ours: Sequence[_Statement], wanted: frozenset[str]) -> list[_Statement]:
    """Return, in order, what gives these names their meaning, and what acts on it: a seed, a shuffle."""
    known: set[str] = set()
    more: set[str] = set(wanted)
    chosen: set[int] = set()
    while more - known:
        known |= more
        for place, statement in enumerate(ours):
            acts = not statement.binds and bool(statement.uses) and statement.uses <= known | _BUILT_IN
            if statement.binds & known or acts:
                chosen.add(place)
                more |= statement.uses - _BUILT_IN
    return [ours[place] for place in sorted(chosen)]
