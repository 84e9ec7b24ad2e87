"""Where what a test says may hold what its hidden lines, or those of an earlier test, expect."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from autograder.boundary.locked import Statement, all_statements, global_names, only_imports, statements
from autograder.boundary.scopes import filled
from autograder.execution.results import Case
from autograder.execution.syntax import called, case_title, is_case
from autograder.markers import BEGIN_HIDDEN, strip_hidden
from autograder.model import CellSpec

_UNTITLED = "a hidden case"
_DEFINING = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

__all__ = ["beside_hidden", "reached_by_hidden", "sure_lines", "without_hidden_values"]


def beside_hidden(rows: Sequence[CellSpec]) -> frozenset[str]:
    """Return the tests that use what hidden lines of an earlier test may have made, or filled, by their grade_ids."""
    cells = [row for row in rows if row.cell_type == "code" and (row.automatic or row.locked)]
    texts = [(row.source, strip_hidden(row.source)) for row in cells]
    locked = {place for place, row in enumerate(cells) if not row.automatic}
    reached = reached_by_hidden(texts, locked) if any(whole != shown for whole, shown in texts) else ()
    return frozenset(cells[place].grade_id for place in reached if place not in locked)


def reached_by_hidden(cells: Sequence[tuple[str, str]], locked: Collection[int] = ()) -> list[int]:
    """Return the places of the cells that use what hidden lines of an earlier one may have made, or filled.

    cells: the texts of code cells, each whole and without its hidden lines. locked: the places of those that are no
    tests: of their data only that counts which hidden lines fill; a test's own that they mention may be filled by them.
    """
    bound, known = set[str](), set[str]()
    defined: dict[str, Statement] = {}
    found: list[int] = []
    for place, (source, shown) in enumerate(cells):
        made = all_statements((source,))
        defined |= {s.name: s for s in made if s.defines}
        used = _used_through(global_names(source), defined)
        if used & known:
            found.append(place)
        own = {name for s in made if not (s.is_function or only_imports(s.node)) for name in s.binds}
        if source != shown or place in found[-1:]:
            known |= own | (used & bound) | {name for f in used & defined.keys() for name in _filled_by(defined[f])}
        bound |= own if place not in locked else set()
    return found


def _used_through(names: Collection[str], defined: Mapping[str, Statement]) -> set[str]:
    """Return these names and those that the functions and classes among them look up, and so on."""
    found, more = set[str](), set(names)
    while more - found:
        found |= more
        more = {name for one in more if one in defined for name in defined[one].uses}
    return found


def _filled_by(function: Statement) -> frozenset[str]:
    """Return the global names that a function or class binds, sets items of, or fills when it is used."""
    parts = [part for part in ast.walk(function.node) if isinstance(part, ast.stmt) and part is not function.node]
    within = frozenset[str]().union(*map(filled, parts)) & function.uses
    return function.declares | (function.binds - {function.name}) | within


def sure_lines(source: str) -> range:
    """Return the lines, from 1 on, of the statements that end above the first hidden line: no hidden line takes part.

    A loop or a call that ends below it does not count, wherever in it the error came from.
    """
    above, hidden, _ = source.partition(BEGIN_HIDDEN)
    if not hidden:
        return range(1, len(source.split("\n")) + 1)
    first = above.count("\n") + 1
    ends = [(part.lineno, part.end_lineno or part.lineno) for part in statements(source)]
    over = [start for start, end in ends if end >= first]
    return range(1, min([first, *over]))


def without_hidden_values(cases: Sequence[Case], source: str, *, whole: bool) -> list[Case]:
    """Return a test's cases as students may read them: those that may hold a hidden value count as hidden.

    Such is every case but those whose `with` ends above the first hidden line, and that nothing below begins again.
    whole: hidden lines of an earlier test may have filled what any of them compares.
    """
    fixed, told = _titles(source, whole)
    titled = [case["title"] if case["title"] in fixed else "" for case in cases]  # else made of values: f"f({n})"
    return [
        case if case["hidden"] or title in told else {**case, "hidden": True, "title": title or _UNTITLED}
        for case, title in zip(cases, titled, strict=True)
    ]


@lru_cache(maxsize=256)
def _titles(source: str, whole: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the titles that a test's text gives cases, and those that can hold no hidden value; "" for made ones."""
    body = statements(source)
    sure = range(0) if whole else sure_lines(source)
    nodes = list(ast.walk(ast.Module(body, [])))
    used = {node.id for node in nodes if isinstance(node, ast.Name) and node.lineno not in sure}
    parts = all_statements((source,))
    while more := {name for s in parts if s.binds & used for name in s.uses} - used:
        used |= more
    again = [part for part in body if isinstance(part, _DEFINING) and part.name in used]
    made = [node for node in nodes if isinstance(node, ast.Call) and is_case(node)]
    above = [
        call
        for call in made
        if call.lineno in sure and not any(part.lineno <= call.lineno <= (part.end_lineno or 0) for part in again)
    ]
    below = [call for call in made if call not in above and called(call) == "case"]  # a hidden_case says so itself
    fixed = frozenset(map(case_title, made)) - {""}
    return fixed, frozenset(map(case_title, above)) - frozenset(map(case_title, below))
