"""What the locked cells of a notebook, and the visible parts of tests, give to the tests below them.

A locked cell imports NumPy, loads data, defines a helper. In a notebook these names lie where the student's code can
rebind them: `np.allclose = lambda *_: True`. So what no code of the student's can have a say in is made again on the
trusted side, for each test that uses it; functions that need the student's names are defined again, from the locked
text, where they must run. What students see of a test is locked text as well.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from autograder.boundary.empties import compiled
from autograder.boundary.locked import STAR, Statement, all_statements, global_names, only_imports
from autograder.boundary.needed import needed, reached
from autograder.boundary.verdicts import verdicts

__all__ = [
    "CLASSES",
    "DATA",
    "FUNCTIONS",
    "IMPORTS",
    "NOTHING",
    "asked_of_kernel",
    "brought_along",
    "imports",
    "left_by_test",
    "names_given",
    "names_made",
    "names_needed",
    "trusted_names",
]

NOTHING, IMPORTS, DATA, FUNCTIONS, CLASSES = range(5)
"""How much of the locked cells is the grader's: nothing; imports; data as well; functions as well; all as well."""

_IMPORTS = ast.Import | ast.ImportFrom
_BINDING = _IMPORTS | ast.Assign | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
"""What binds its names whenever it is run to its end, which a loop or a condition does not."""
_BLOCKS = ast.With | ast.For | ast.While | ast.If | ast.Try
_BUILT_IN = frozenset(dir(builtins))


def trusted_names(
    cells: Sequence[str],
    theirs: Collection[str],
    level: int,
    test: str,
    withheld: Collection[str] = (),
    beneath: Mapping[str, Any] | None = None,
    *,
    wide: bool = False,
    left: Mapping[str, Any] | None = None,
    unbound: Collection[str] = (),
    kept: Collection[str] = (),
) -> Mapping[str, Any]:
    """Return the names of locked cells that a test uses and that are the grader's, with their values, made now.

    cells: the locked cells above the test, and what others import. theirs: names that the student's cells bind in the
    instructor's notebook. withheld: names that are to be the student's process's for this test. beneath: the built-in
    names, below which functions find the student's. wide: see needed.needed. left: what tests above have computed,
    by name: functions find it as it is. unbound: the names of what they would have computed, and did not. kept: what
    is returned too, where a statement that is run here binds it beside what the test uses.
    A statement is the grader's if all that it needs is; classes only where asked for, because their instances go to the
    student's code, which knows its own. Raises what the statements raise.
    """
    foreign, asked = frozenset({*theirs, *withheld}), frozenset(theirs) - set(withheld)
    ours = _ours(tuple(cells), foreign, level, expand=True, asked=asked, left=frozenset({*(left or ()), *unbound}))
    looked_up = names_needed(test) - foreign
    wanted = looked_up & {name for statement in ours for name in statement.binds}
    below = vars(builtins) if beneath is None else beneath
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": below}
    for statement in needed(ours, wanted, wide=wide) if wanted else ():
        exec(_compiled(statement, below), space)
        wanted |= statement.binds & set(kept)
    space.update(left or {})
    for name in unbound:
        space.pop(name, None)
    missing = looked_up - wanted - _BUILT_IN if level >= DATA else frozenset()
    return {**{name: space[name] for name in wanted if name in space}, **_unseen(tuple(cells), foreign, level, missing)}


def _compiled(statement: Statement, below: Mapping[str, Any]) -> Any:
    return compiled(ast.Module([statement.node], []), "<given>", below)


def _unseen(cells: tuple[str, ...], foreign: frozenset[str], level: int, missing: frozenset[str]) -> dict[str, Any]:
    """Return those of these names that the cells bind in ways that their text does not show: by exec, by %run.

    All statements are run that can be without a name that is another's: any of them may bind one.
    """
    everything = all_statements(cells, True)
    if not missing or not any(statement.unseen for statement in everything):
        return {}
    ours = _ours(cells, foreign, level, expand=True, unseen=True)
    lost = {name for s in everything for name in s.binds} - {name for s in ours for name in s.binds}
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    for statement in ours:
        try:
            exec(_compiled(statement, vars(builtins)), space)
        except NameError:  # it needs what only the student's process has
            lost |= statement.binds
    return {name: space[name] for name in missing - lost if name in space}


def names_made(cells: Sequence[str], theirs: Collection[str], level: int) -> frozenset[str]:
    """Return the names of locked cells that are the grader's, imported or not; of a star import the star."""
    ours = _ours(tuple(cells), frozenset(theirs), level, asked=frozenset(theirs))
    return frozenset(name for statement in ours for name in statement.binds)


def brought_along(cells: Sequence[str], theirs: Collection[str], test: str) -> str:
    """Return the text of what a test brings along of the locked cells above it, if it can; nothing is imported."""
    ours = _ours(tuple(cells), frozenset(theirs), FUNCTIONS, asked=frozenset(theirs))
    wanted = names_needed(test) & {name for statement in ours for name in statement.binds}
    stars = [statement for statement in ours if STAR in statement.binds]
    along = [s for s in needed(ours, wanted) if not s.unseen]  # it has run before the test, on nothing of a student's
    return "\n".join(ast.unparse(statement.node) for statement in [*stars, *along])


def asked_of_kernel(
    cells: Sequence[str], theirs: Collection[str], level: int, test: str, kept: Collection[str] = ()
) -> frozenset[str]:
    """Return the names of these cells that must stand in the student's process for this test to find them there.

    What is the grader's is not asked for there, and functions are defined again: but these look up names there, too.
    kept: names that the test finds as an earlier one has left them.
    """
    ours = {name for s in _ours(tuple(cells), frozenset(theirs), level) for name in s.binds}
    defined = {name for s in all_statements(tuple(cells)) if _defines(s) for name in s.binds}
    return (reached(cells, _surely_needed(test) - ours - set(kept)) - defined) & names_given(cells)


def _defines(statement: Statement) -> bool:
    return isinstance(statement.node, _IMPORTS | ast.FunctionDef)


def left_by_test(shown: str) -> str:
    """Return what a test's visible part leaves to the cells below it, as the text of a locked cell.

    Its checks have been made: asserts, and what reports by labkit's check.
    """
    parts = all_statements((shown,))
    reporting = {name for s in parts if only_imports(s.node) and "labkit" in ast.unparse(s.node) for name in s.binds}
    checks = [s for s in parts if isinstance(s.node, ast.Assert) or (not _defines(s) and s.uses & reporting)]
    return "\n".join(ast.unparse(s.node) for s in parts if s not in checks)


def names_given(cells: Sequence[str], *, imported: bool = True) -> frozenset[str]:
    """Return all names that these cells bind at their top; of `from x import *` the star.

    imported: count what they import as well.
    """
    kept = [s for s in all_statements(tuple(cells)) if imported or not only_imports(s.node)]
    return frozenset(name for statement in kept for name in statement.binds)


def imports(cells: Sequence[str]) -> str:
    """Return the import statements at the top of these cells, as the text of one cell."""
    return "\n".join(ast.unparse(s.node) for s in all_statements(tuple(cells)) if only_imports(s.node))


def names_needed(test: str) -> frozenset[str]:
    """Return the names that a test looks up and that it has not bound itself before, as far as its text tells."""
    if not (parts := all_statements((test,))):
        return global_names(test)
    found, bound = set[str](), set[str]()
    for statement in parts:
        found |= statement.uses - bound
        if isinstance(statement.node, _BINDING):
            bound |= statement.binds
    return frozenset(found)


def _surely_needed(test: str) -> frozenset[str]:
    """Return the names that a test looks up and nowhere binds itself before: what it can only have from elsewhere.

    A block binds a name before it uses it, and a function is called when all of the cell has run, unless it says
    otherwise by failing: what is missing then is missing in the trial, too.
    """
    found, later, bound = set[str](), set[str](), set[str]()
    for statement in all_statements((test,)):
        if isinstance(statement.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            later |= statement.uses
        else:
            found |= statement.uses - bound - (statement.binds if isinstance(statement.node, _BLOCKS) else set())
        bound |= statement.binds
    return frozenset(found | later - bound)


def _may_be_ours(statement: Statement, level: int) -> bool:
    if level == NOTHING or (statement.is_class and level < CLASSES):
        return False
    if level == IMPORTS:
        return only_imports(statement.node)
    return level >= FUNCTIONS or not isinstance(statement.node, ast.FunctionDef)


@lru_cache(maxsize=64)
def _ours(
    cells: tuple[str, ...],
    foreign: frozenset[str],
    level: int,
    *,
    expand: bool = False,
    asked: frozenset[str] = frozenset(),
    unseen: bool = False,
    left: frozenset[str] = frozenset(),
) -> tuple[Statement, ...]:
    """Return the statements that need nothing but each other and built-in names, without the names that are foreign.

    asked: names of the student's that functions may look up. unseen: what no statement binds is there, too.
    left: see trusted_names.
    """
    everything = all_statements(cells, expand)
    own = [s for s in everything if _may_be_ours(s, level)]
    lost = {*foreign, *(name for s in everything if s not in own for name in s.binds)}
    while True:
        bound = {name for s in own for name in s.binds} - lost
        kept = [s for s in own if _has(s.uses - _BUILT_IN, bound, lost if unseen else None)]
        if len(kept) == len(own):
            break
        lost |= {name for s in own if s not in kept for name in s.binds}
        own = kept
    own = [replace(s, binds=s.binds - lost) for s in own if s.binds - lost or not s.binds]
    if level < FUNCTIONS:
        return tuple(own)
    return (*own, *_asking(everything, own, foreign, asked, left))


def _has(uses: frozenset[str], bound: Collection[str], lost: Collection[str] | None) -> bool:
    return not uses & set(lost) if lost is not None else uses <= set(bound)


def _asking(
    everything: Sequence[Statement],
    ours: Sequence[Statement],
    foreign: frozenset[str],
    asked: frozenset[str],
    left: frozenset[str],
) -> list[Statement]:
    """Return the functions that need, beside what is the grader's, what only the student's process has: they ask there.

    These are names of the student's, and data of locked cells that the student's code has made. Data that is made by
    comparing with these is found in the same way.
    """
    own = {s.node for s in ours}
    data = [s for s in everything if s.node not in own and s.gives_data and not s.is_function]
    asked = asked | {name for s in data for name in s.binds}
    names = {name for s in ours for name in s.binds}
    judging = [s.node for s in verdicts(everything, names) if not s.binds & left]
    found = [s for s in everything if (s.is_function or s.node in judging) and s.node not in own]
    while True:
        lost = {name for s in everything if s.node not in own and s not in found for name in s.binds} | foreign
        there = {name for s in [*ours, *found] for name in s.binds} | asked | _BUILT_IN
        kept = [s for s in found if not s.binds & lost and s.uses <= there]
        if len(kept) == len(found):
            return found
        found = kept
