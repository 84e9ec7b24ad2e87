"""Which tests above a test needs where it runs in the student's kernel, and of which tests that is tried."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from autograder.boundary.given import names_given
from autograder.boundary.locked import names_in, statements
from autograder.boundary.parsing import syntax_tree
from autograder.markers import BEGIN_HIDDEN, strip_hidden
from autograder.model import CellSpec

__all__ = ["bound_in", "hiding", "looks", "taken_along", "words"]

_LOOKS = 3
"""How many second looks at the instructor's notebook may be tried."""
_ACTING = ast.Try | ast.With | ast.Delete | ast.AugAssign
_BUILT_IN = frozenset(dir(builtins))


def hiding(rows: Sequence[CellSpec]) -> frozenset[str]:
    """Return the tests with hidden lines, and those that need what hidden lines of another one bind."""
    along = taken_along(rows)
    return frozenset(row.grade_id for row in rows if BEGIN_HIDDEN in row.source or along.get(row.grade_id))


def taken_along(rows: Sequence[CellSpec]) -> dict[str, frozenset[str]]:
    """Return, for each test, those above it without whose hidden lines it does not find a name as in a notebook.

    What students see of a test that ran apart is run in the kernel for a cell that needs it; its hidden lines are not.
    """
    found: dict[str, frozenset[str]] = {}
    sources = {row.grade_id: row.source for row in rows if row.automatic}
    for name, needed in _needed(sources).items():
        hiding = {above for above, names in needed.items() if _hidden_words(sources[above]) & names}
        found[name] = frozenset(hiding).union(*(found[above] for above in needed))
    return found


def looks(rows: Sequence[CellSpec], isolated: Collection[str], theirs: Collection[str]) -> list[frozenset[str]]:
    """Return the tests of each second look at the solution: none with one that it needs, as far as it goes.

    theirs: the names of the student's. Left out are tests that only hand over numbers and texts, and change nothing.
    """
    sources = {row.grade_id: row.source for row in rows if row.automatic}
    depth: dict[str, int] = {}
    for name, needed in _needed(sources).items():
        depth[name] = max((depth[above] + 1 for above in needed), default=0)
    chosen = [name for name in sources if name in isolated and (depth[name] or _may_differ(sources[name], theirs))]
    levels = [frozenset(name for name in chosen if min(depth[name], _LOOKS - 1) == level) for level in range(_LOOKS)]
    return list(filter(None, levels))


def _needed(sources: Mapping[str, str]) -> dict[str, dict[str, frozenset[str]]]:
    """Return, for each test, those above it that it needs, and for which names; what these need is not among them."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    above: list[str] = []
    for name, source in sources.items():
        wanted, found[name] = _used(source), {}
        for other in reversed(above):
            if names := wanted & _binds(sources[other]):
                found[name][other] = names
                wanted -= names - _used(sources[other])
        above.append(name)
    return found


def _used(source: str) -> frozenset[str]:
    return names_in(source)[0]


def _binds(source: str) -> frozenset[str]:
    """Return what a test binds at its top, or sets items and attributes of."""
    return names_given([source], imported=False)


@lru_cache(maxsize=256)
def _hidden_words(source: str) -> frozenset[str]:
    """Return the names whose meaning hidden lines may decide: those in them, all of a test that needs one of them."""
    shown = strip_hidden(source)
    lines = shown.split("\n")
    hidden = "\n".join(line for line in source.split("\n") if line not in lines)
    if (_binds(source) - _binds(shown)) & _used(shown):
        return frozenset(words(source))
    return frozenset(words(hidden))


def _may_differ(source: str, theirs: Collection[str]) -> bool:
    """Whether a test hands over what can be changed, or may take a refusal for an error that it waits for."""
    if not (found := statements(source)):
        return True
    nodes = [node for statement in found for node in ast.walk(statement)]
    if any(isinstance(node, _ACTING) or _set(node) for node in nodes):
        return True
    calls = [node for node in nodes if isinstance(node, ast.Call) and not _built_in(node.func, theirs)]
    parts = [part for call in calls for part in [*call.args, *(word.value for word in call.keywords)]]
    return not all(isinstance(call.func, ast.Name) for call in calls) or not all(map(_constant, parts))


def _set(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)


def _built_in(called: ast.expr, theirs: Collection[str]) -> bool:
    return isinstance(called, ast.Name) and called.id in _BUILT_IN - set(theirs)


def _constant(part: ast.expr) -> bool:
    return isinstance(part.operand if isinstance(part, ast.UnaryOp) else part, ast.Constant)


def words(source: str) -> set[str]:
    """Return all words of a text that could be names."""
    return set(re.findall(r"[^\W\d]\w*", source))


def bound_in(source: str) -> set[str]:
    """Return the names that a cell gives a meaning, in functions too; of one with magics, all its words."""
    try:
        nodes = list(ast.walk(syntax_tree(source)))
    except (SyntaxError, ValueError, RecursionError):
        return words(source)
    found = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    return found | {(a.asname or a.name).split(".")[0] for a in nodes if isinstance(a, ast.alias)}
