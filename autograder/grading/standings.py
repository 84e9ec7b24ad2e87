"""What a test has of locked cells, as much as it bears: made by the grader, or again in the student's process."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.boundary.given import (
    CLASSES,
    DATA,
    FUNCTIONS,
    IMPORTS,
    NOTHING,
    brought_along,
    names_given,
    names_made,
    names_needed,
)
from autograder.boundary.locked import STAR, Statement, all_statements, global_names, only_imports
from autograder.boundary.needed import reached
from autograder.boundary.parsing import syntax_tree
from autograder.boundary.repeated import again_there
from autograder.boundary.scopes import root_of
from autograder.boundary.verdicts import verdicts
from autograder.execution import Checks

__all__ = ["Standing", "Standings", "opened"]

_ONE_BY_ONE = 4
"""So many names are tried one by one, each a run of the notebook."""
_LIVE = "'{}': {} is data of a locked cell that students' code changes: it means what that makes of it"
_THERE = (
    "'{}': {} runs in the student's process: what it compares there, the student's code may decide; write it so that it"
    " returns what was computed, and compare that in the test"
)
_SHOWN = {"display"}
"""Names that IPython binds, and that nothing of a test depends on."""


@dataclass(frozen=True)
class Standing:
    """Whose names of locked cells are while a test runs.

    Attributes:
        level: how much is the grader's: see boundary.given.
        again: names that are made again in the student's process, from the locked text.
        live: data that is what the student's code makes of it.
        wide: whether more of the locked cells is run than is seen to give its names a meaning: see boundary.needed.
    """

    level: int = FUNCTIONS
    again: frozenset[str] = frozenset()
    live: frozenset[str] = frozenset()
    wide: bool = False


class Standings:
    """The standings of the tests of one notebook; each has one, and others that are left to try."""

    def __init__(self, checks: Checks, sources: Mapping[str, str], open_cells: Sequence[str]) -> None:
        """sources: of the tests. open_cells: those of the instructor's notebook that students may change."""
        self._checks = checks
        self._sources = sources
        self._open = opened(open_cells) | _SHOWN
        self._mentioned = frozenset[str]().union(*map(global_names, open_cells))
        self._left = {name: list(self._all(name)) for name in sources}
        self.of = {name: left.pop(0) for name, left in self._left.items()}

    def next(self, names: frozenset[str]) -> bool:
        """Give each of these tests its next standing; return whether one of them had any left."""
        found = {name: self._left[name].pop(0) for name in names if self._left[name]}
        self.of |= found
        return bool(found)

    def mend(self, name: str, differ: frozenset[str], less: frozenset[str]) -> bool:
        """Take account of data that is another in the instructor's kernel, or more; return whether there was a way.

        First more of the locked cells is run for this test, then their classes as well. What is still less than there
        has been filled by the student's code: it is what that makes of it.
        """
        before = self.of[name]
        if not before.wide:
            after = replace(before, wide=bool(differ))
        elif less and before.level == FUNCTIONS and not before.live:
            after = replace(before, level=CLASSES)
        else:
            live = before.live | less
            after = replace(before, level=min(before.level, FUNCTIONS), live=live, again=before.again - live)
        self.of[name] = after if less or not before.wide else before
        return self.of[name] != before

    def widen(self, names: Iterable[str]) -> bool:
        """Run more of the locked cells for these tests; return whether that is more than before for one of them."""
        return bool([name for name in names if self.mend(name, frozenset([name]), frozenset())])

    def denied(self, name: str, asked: frozenset[str]) -> frozenset[str]:
        """Return those names that a test asked the student's process for, and that are not the student's to give."""
        standing = self.of[name]
        theirs = self._checks.theirs | standing.live
        there = again_there(self._checks.given.get(name, ()), theirs, self._sources[name], standing.again)
        return asked - self._open - standing.live - there

    def notes(self, name: str) -> list[str]:
        """Return what the instructor should know of the standing of a test."""
        standing, cells = self.of[name], self._checks.cells_above(name)
        theirs = {*self._checks.theirs, *standing.again, *standing.live}
        used = _used_of(cells, self._checks.theirs, self._sources[name])
        compared = _judging(cells, self._checks.theirs, self._sources[name])
        judging = used.functions | ((used.hard | standing.again) & compared)
        there = judging - self._checks.theirs - names_made(cells, theirs, standing.level)
        found = [_LIVE.format(name, ", ".join(sorted(standing.live)))] if standing.live else []
        return [*found, *([_THERE.format(name, ", ".join(sorted(there)))] if there else [])]

    def _all(self, name: str) -> Iterator[Standing]:
        cells, theirs = self._checks.cells_above(name), self._checks.theirs
        used = _used_of(cells, theirs, self._sources[name])
        if used.hard & names_made(
            cells, theirs, CLASSES
        ):  # classes, and what is made of them: the grader's if they go nowhere
            yield Standing(CLASSES)
        yield Standing(FUNCTIONS, used.hard)
        if used.easy & used.functions or brought_along(cells, theirs, self._sources[name]):
            yield Standing(DATA, used.hard | used.looked_up)
        yield from _lower(used)
        changed = (used.easy | used.hard & used.data) - used.functions
        for one in sorted(changed & self._mentioned)[:_ONE_BY_ONE]:  # else students' code would not change it
            yield Standing(FUNCTIONS, used.hard - {one}, frozenset({one}))


def _lower(used: _Used) -> Iterator[Standing]:
    data = sorted(used.easy - used.functions)
    for name in data[:_ONE_BY_ONE] if len(data) > 1 else ():
        yield Standing(FUNCTIONS, used.hard | {name})
    if used.easy or used.imports:
        yield Standing(IMPORTS, used.hard | used.easy)
        yield Standing(NOTHING, used.hard | used.easy)


def _judging(cells: Sequence[str], theirs: Collection[str], test: str) -> frozenset[str]:
    """Return what is no function, and compares: data, or where a test calls it, `partial(same, table)`, a method."""
    found = set[str]()
    everything = all_statements(tuple(cells))
    made_so = {name for s in verdicts(everything, names_made(cells, theirs, DATA)) for name in s.binds}
    judges = {name for s in everything if _is_judge(s.node) for name in s.binds}
    for statement in everything:
        value = getattr(statement.node, "value", None)
        made = isinstance(value, ast.Call) and root_of(value, calls=True) not in theirs
        found |= statement.binds if made or statement.binds & judges else frozenset()
        asked = statement.touches & judges and statement.touches & set(theirs)
        if statement.gives_data and (asked or statement.uses & made_so):  # a test may look at it without a call
            made_so |= statement.binds
    try:
        calls = [node for node in ast.walk(syntax_tree(test)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(found | made_so)
    return frozenset(found & {root_of(call, calls=True) for call in calls} | made_so)


def _is_judge(node: ast.stmt) -> bool:
    """Whether this is a class that compares, by itself or by unittest's methods; not for what it is compared with."""
    return isinstance(node, ast.ClassDef) and any(map(_compares, node.body))


def _compares(part: ast.stmt) -> bool:
    special = isinstance(part, ast.FunctionDef) and part.name.startswith("__") and part.name != "__call__"
    return not special and any(isinstance(node, ast.Compare) or _asserts(node) for node in ast.walk(part))


def _asserts(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "").startswith("assert")


def opened(cells: Sequence[str]) -> frozenset[str]:
    """Return the names that these cells bind at their top, or say in a function to be global."""
    found = set(names_given(cells))
    for cell in cells:
        try:
            nodes = list(ast.walk(syntax_tree(cell)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        found |= {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    return frozenset(found)


@dataclass(frozen=True)
class _Used:
    """Names of locked cells that a test uses.

    Attributes:
        easy: those that can be the grader's, but for imports.
        hard: those that cannot, unless classes are.
        functions: functions among all of them.
        data: what is neither a function nor a class.
        imports: what is imported.
        looked_up: data that functions among the easy ones look up, where they run.
    """

    easy: frozenset[str]
    hard: frozenset[str]
    functions: frozenset[str]
    data: frozenset[str]
    imports: frozenset[str]
    looked_up: frozenset[str]


def _used_of(cells: Sequence[str], theirs: Collection[str], test: str) -> _Used:
    """Return which names of the locked cells above it a test uses, by what can be made of them."""
    found = all_statements(tuple(cells))
    ours = names_made(cells, theirs, FUNCTIONS)

    def bound(by: Sequence[Statement]) -> frozenset[str]:
        return frozenset(name for statement in by for name in statement.binds)

    all_data = bound([s for s in found if not s.defines and not only_imports(s.node)]) - set(theirs)
    all_functions = bound([s for s in found if s.is_function])
    needed = names_needed(test) - set(theirs)
    imported = bound([s for s in found if only_imports(s.node)]) & (needed | {STAR})
    # A function finds data where it runs, or asks for it in the student's process: it is made again there.
    asking = all_functions | bound(verdicts(found, names_made(cells, theirs, DATA)))
    there = reached(cells, needed & asking) & all_data - ours
    there |= reached(cells, (needed & all_functions) - ours) & all_data
    needed |= there
    easy, hard = (needed & ours) - imported - there, (needed & bound(found)) - ours | there
    looked_up = reached(cells, easy & all_functions) & all_data
    return _Used(easy, hard, needed & all_functions, needed & all_data, imported, looked_up)
