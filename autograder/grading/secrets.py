"""Where what a test says may hold what its hidden lines, or those of an earlier test, expect."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from autograder.boundary.locked import Statement, all_statements, global_names, only_imports, statements
from autograder.boundary.scopes import filled, root_of
from autograder.execution.results import Case
from autograder.execution.syntax import called, case_title, hidden_lines, is_case
from autograder.grading.aliases import Aliases, stored, written
from autograder.markers import BEGIN_HIDDEN, strip_hidden
from autograder.model import CellSpec

_UNTITLED = "a hidden case"
_DEFINING = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BLOCKS = ("body", "orelse", "finalbody")
_HELD = ast.stmt | ast.ExceptHandler
_THROUGH = {"operators", "unchanged"}
"""Blocks of labkit's check that no error ends quietly, as it ends a case."""
_KEEPING = {"cache", "lru_cache", "property", "wraps"}
"""Decorators that do not call what they decorate."""

__all__ = ["beside_hidden", "reached_by_hidden", "read_first", "sure_lines", "without_hidden_values"]


def beside_hidden(rows: Sequence[CellSpec]) -> frozenset[str]:
    """Return the tests that use what hidden lines of an earlier test may have made, or filled, by their grade_ids."""
    return _beside_hidden(tuple(rows))


@lru_cache(maxsize=16)  # a class is graded by the same cells
def _beside_hidden(rows: tuple[CellSpec, ...]) -> frozenset[str]:
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
    above = _Above()
    found: list[int] = []
    everything = False
    for place, (source, shown) in enumerate(cells):
        if everything or above.through(read_first(source)) & known:
            found.append(place)
        made, own = above.read(source)
        if source != shown or place in found[-1:]:
            used = above.through(global_names(source))
            more = (used & bound) | above.filled_by(used)
            known |= own | (more - above.imported) | above.touched(source, made, own)
            everything |= above.blind
        bound |= own if place not in locked else set()
    return found


class _Above:
    """What the cells so far bind, define and import, and which of these names may stand for one object.

    Attributes:
        blind: names are bound that no text shows: after hidden lines any may be one of theirs.
    """

    def __init__(self) -> None:
        self.imported: set[str] = set()
        self.blind = False
        self._defined: dict[str, Statement] = {}
        self._data: set[str] = set()
        self._functions: dict[str, frozenset[str]] = {}
        self._names: set[str] = set()
        self._aliases = Aliases()

    def through(self, names: Collection[str]) -> set[str]:
        """Return these names, and what the functions among them read, and so on."""
        return _through(names, {name: s.uses for name, s in self._defined.items()})

    def filled_by(self, functions: Collection[str]) -> set[str]:
        """Return the global names that these functions fill when they are used."""
        return {name for f in self._defined.keys() & set(functions) for name in _filled_by(self._defined[f])}

    def read(self, source: str) -> tuple[tuple[Statement, ...], set[str]]:
        """Take one more cell; return its statements, and the names of its own data."""
        made = all_statements((source,))
        self.blind |= any(s.unseen for s in made)
        self._defined |= {name: s for s in made if s.defines or s.is_function for name in s.binds}
        self.imported |= {name for s in made if only_imports(s.node) for name in s.binds}
        self.imported |= {name for s in made if _names_part_of_module(s.node, self.imported) for name in s.binds}
        own = {name for s in made if not (s.is_function or only_imports(s.node)) for name in s.binds}
        self._data |= own | {name for name, s in self._defined.items() if isinstance(s.node, ast.ClassDef)}
        handed = {name: _handed_out(name, s) & self._data for name, s in self._defined.items()}
        self._aliases.define(handed)
        self._functions = {name: frozenset[str]() for name in self.imported} | handed
        self._names = (self._data | self._defined.keys()) - self.imported
        for s in made:
            self._aliases.read(s.node, self._functions, self._names, keep=BEGIN_HIDDEN in source)
        return made, own

    def touched(self, source: str, made: Sequence[Statement], own: Collection[str]) -> set[str]:
        """Return the names of what the hidden lines of the last cell may have written to, or bound anew for others.

        Of a cell without any, which uses what earlier ones have written: all its lines.
        """
        lines = hidden_lines(source)
        within = [s for s in made if not lines or not lines.isdisjoint(_lines_of(s.node))]
        called = {n.id for s in within for n in ast.walk(s.node) if isinstance(n, ast.Name)}
        changed = self.filled_by(_through(called, self._functions))
        changed |= {name for s in within for name in written(s.node, self._functions)}
        changed &= self._names.union(*(stored(s.node) for s in within))
        anew = {name for s in within for name in s.binds} & set(own)
        return (self._aliases.of(changed) | self._aliases.readers(anew, self._functions)) & self._names


def _names_part_of_module(node: ast.stmt, imported: Collection[str]) -> bool:
    """Whether this gives a name to something of a module: `F = nn.functional`."""
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and root_of(node.value) in imported


def _handed_out(name: str, function: Statement) -> frozenset[str]:
    """Return the names of what a function of the cells may return of what it reads; a class with data has its own."""
    held = [part.value for part in getattr(function.node, "body", ()) if isinstance(part, ast.Assign | ast.AnnAssign)]
    has_data = isinstance(function.node, ast.ClassDef) and not all(isinstance(v, ast.Constant | None) for v in held)
    return function.uses | ({name} if has_data else frozenset())


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def read_first(source: str) -> frozenset[str]:
    """Return the names that a cell may read before it has surely bound them itself.

    What a block binds counts within it only: it may end early. A function reads when its name is used.
    """
    return frozenset(_read_first([s.node for s in all_statements((source,))], set(), {}))


def _read_first(body: Sequence[ast.stmt], bound: set[str], defined: dict[str, set[str]]) -> set[str]:
    """Return what this block reads first; add to bound, and to defined what each function in it reads."""
    found = set[str]()
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, _DEFINING):
            found |= {name for part in _at_once(node) for name in _through(_loaded(part), defined)} - bound
            defined[node.name] = defined.get(node.name, set()) | _loaded(node)
            bound.add(node.name)
        else:
            blocks = [block for name in _BLOCKS if (block := getattr(node, name, []))]
            blocks += [handler.body for handler in getattr(node, "handlers", [])]
            children = [part for part in ast.iter_child_nodes(node) if not isinstance(part, _HELD)]
            heads = children if blocks else [node]
            heads += [handler.type for handler in getattr(node, "handlers", []) if handler.type]
            found |= {name for part in heads for name in _through(_loaded(part), defined)} - bound
            inner = {name for part in heads for name in _stored(part)}
            if _lets_errors_through(node):
                bound |= inner
                found |= _read_first(blocks[0], bound, defined)
                continue
            found |= {name for block in blocks for name in _read_first(block, bound | inner, defined)}
            bound |= inner if not blocks else set()
    return found


def _at_once(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr | ast.stmt]:
    """Return what runs where a function or class is defined, and not only when it is used."""
    if isinstance(node, ast.ClassDef) or not {called(part) or _named(part) for part in node.decorator_list} <= _KEEPING:
        return [node]
    given = [node.args.args, node.args.posonlyargs, node.args.kwonlyargs]
    annotations = [argument.annotation for several in given for argument in several]
    parts = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *annotations, node.returns]
    return [part for part in parts if part is not None]


def _named(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _through(names: Collection[str], defined: Mapping[str, Collection[str]]) -> set[str]:
    """Return these names, and what the functions among them read, and so on."""
    found, more = set[str](), set(names)
    while more - found:
        found |= more
        more = {name for one in more if one in defined for name in defined[one]}
    return found


def _lets_errors_through(node: ast.stmt) -> bool:
    """Whether this is a block of labkit's after which the cell goes on only if all of it has run."""
    parts = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    return bool(parts) and all(isinstance(part, ast.Call) and called(part) in _THROUGH for part in parts)


def _loaded(node: ast.AST) -> set[str]:
    """Return the globals that this code reads, or adds to."""
    if isinstance(node, ast.withitem):
        node = node.context_expr
    if isinstance(node, ast.Name | ast.Tuple) and isinstance(node.ctx, ast.Store):  # what a loop binds
        return set()
    return {name for part in all_statements((ast.unparse(node),)) for name in part.uses}


def _stored(node: ast.AST) -> set[str]:
    """Return the names that this surely binds where it has run: not `:=`, which may stand where nothing comes by."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return set()
    stored = {id(n): n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    inner = (part.target for part in ast.walk(node) if isinstance(part, ast.comprehension | ast.NamedExpr))
    return set({key: stored[key] for key in stored.keys() - {id(n) for one in inner for n in ast.walk(one)}}.values())


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
    if any(not case_title(call) for call in below):  # made of values: it may be any of those above
        return fixed, frozenset()
    return fixed, frozenset(map(case_title, above)) - frozenset(map(case_title, below))
