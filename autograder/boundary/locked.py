"""The text of locked cells, statement by statement: what each gives a meaning to, and which names it needs for that."""

from __future__ import annotations

import ast
import importlib
import json
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from autograder.boundary.parsing import MAGIC, syntax_tree
from autograder.boundary.scopes import declared, filled, looked_up, run_at_once, written_to

__all__ = [
    "CHANGES",
    "STAR",
    "Statement",
    "all_statements",
    "global_names",
    "names_in",
    "only_imports",
    "say_names",
    "statements",
]

_MAX_SOURCE = 200_000
CHANGES = "changes to "
"""Begins what is reported of data that the student's code has changed since its cell, or a test, has left it."""
STAR = "*"
"""Stands for what `from x import *` binds."""
_IMPORTS = ast.Import | ast.ImportFrom
_DEFINING = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FACTORIES = {
    "Enum", "Flag", "IntEnum", "IntFlag", "NamedTuple", "NewType", "StrEnum", "TypedDict", "make_dataclass",
    "namedtuple", "new_class",
}  # fmt: skip
"""What returns a class: `Point = namedtuple("Point", "x y")` means what `class Point(NamedTuple)` does."""
_BINDING_ALONE = _IMPORTS | ast.Assign | ast.AnnAssign | ast.Assert | ast.Pass
_BLOCKS = ast.With | ast.For | ast.While | ast.If | ast.Try
_SHOWING = {"print", "display"}
_READING = {
    "abs", "all", "any", "bool", "dict", "enumerate", "float", "frozenset", "int", "isinstance", "len", "list", "max",
    "min", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip",
}  # fmt: skip
"""Built-in functions that change nothing, called without a function to call."""
_BINDING_UNSEEN = {"exec", "globals", "vars", "locals"}
"""Built-in names with which a statement binds names that its text does not show."""
_RUN = re.compile(r"\s*%run\s+(?:-i\s+)?(['\"]?)([\w./-]+\.py)\1\s*$")
_READ = "exec(__import__('autograder.boundary.beside', fromlist=['code_of']).code_of({!r}))"


@dataclass(frozen=True)
class Statement:
    """One statement at the top of a locked cell: what it gives a meaning to, and which names it needs for that.

    Attributes:
        unseen: it may bind names that its text does not show.
        declares: the globals that functions defined in it bind when they are called.
        touches: what it uses, and what the functions and classes of locked cells that it uses do, and so on.
    """

    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]
    unseen: bool = False
    declares: frozenset[str] = frozenset()
    touches: frozenset[str] = frozenset()

    @property
    def defines(self) -> bool:
        """Whether it defines a function or a class."""
        return isinstance(self.node, _DEFINING) or self.is_class

    @property
    def is_class(self) -> bool:
        """Whether it defines a class, if need be as `name = namedtuple(...)`."""
        if not isinstance(self.node, ast.Assign) or not isinstance(self.node.value, ast.Call):
            return isinstance(self.node, ast.ClassDef)
        function = self.node.value.func
        named = isinstance(self.node.targets[0], ast.Name) and len(self.node.targets) == 1
        return named and getattr(function, "attr", getattr(function, "id", "")) in _FACTORIES

    @property
    def name(self) -> str:
        """Return the name of the function or class that it defines."""
        found = self.node.targets[0] if isinstance(self.node, ast.Assign) else self.node
        return str(getattr(found, "id", getattr(found, "name", "")))

    @property
    def is_function(self) -> bool:
        """Whether it defines a function, if need be as `name = lambda ...`."""
        return isinstance(self.node, ast.FunctionDef) or (
            isinstance(self.node, ast.Assign) and isinstance(self.node.value, ast.Lambda)
        )

    @property
    def gives_data(self) -> bool:
        """Whether what it binds is neither defined nor imported by it."""
        return not self.defines and not only_imports(self.node)

    @property
    def constant(self) -> bool:
        """Whether what it binds cannot be changed under another name: a number, a text."""
        value = getattr(self.node, "value", None)
        return isinstance(value.operand if isinstance(value, ast.UnaryOp) else value, ast.Constant)

    @property
    def calls(self) -> bool:
        """Whether it binds what something else returns, which may do more than that: `number = fill()`."""
        return self.gives_data and any(map(_may_act, run_at_once(self.node)))

    @property
    def acts(self) -> bool:
        """Whether it may be there for what it does to names that others bind: fill a list, register a function."""
        if isinstance(self.node, _DEFINING):
            return bool(self.node.decorator_list or getattr(self.node, "bases", None))
        if isinstance(self.node, ast.Expr) and isinstance(self.node.value, ast.Call):
            return not isinstance(self.node.value.func, ast.Name) or self.node.value.func.id not in _SHOWING
        return not isinstance(self.node, _BINDING_ALONE) or (isinstance(self.node, ast.Assign) and not self.binds)


def _may_act(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    reads = isinstance(node.func, ast.Name) and node.func.id in _READING and not node.keywords
    return not reads


def statements(source: str) -> list[ast.stmt]:
    """Return the statements at the top of a cell; none if it is no Python. Lines of IPython count as `pass`.

    But `%run helper.py` counts as what it does.
    """
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        lines = ["pass"] if not lines[0].startswith(("%%time", "%%capture")) else ["pass", *lines[1:]]
    masked = "\n".join(_masked(lines))
    try:
        symtable.symtable(masked, "<cell>", "exec")  # some errors are found only here: `y = 1; global y` in a function
        return syntax_tree(masked).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _masked(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with those of IPython as Python, and what a backslash at their end adds to them as nothing."""
    going_on = False
    for line in lines:
        magic = None if going_on else MAGIC.match(line)
        run = _RUN.match(line) if magic else None
        instead = _READ.format(run[2]) if run else "pass"
        yield "" if going_on else f"{magic[1]}{instead}" if magic else line
        going_on = bool(magic or going_on) and line.endswith("\\")


def global_names(source: str) -> frozenset[str]:
    """Return the names that a cell looks up among its globals, in functions too; also what it binds itself."""
    try:
        return frozenset(looked_up(symtable.symtable(source, "<cell>", "exec")))
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(re.findall(r"[^\W\d]\w*", source))


def only_imports(node: ast.stmt) -> bool:
    """Whether a statement imports and does nothing else, if need be after having tried another import."""
    if not isinstance(node, ast.Try):
        return isinstance(node, _IMPORTS)
    within = [*node.body, *node.orelse, *node.finalbody, *(part for handler in node.handlers for part in handler.body)]
    return all(isinstance(part, _IMPORTS | ast.Pass | ast.Raise) for part in within)


@lru_cache(maxsize=64)
def all_statements(cells: tuple[str, ...], expand: bool = False) -> tuple[Statement, ...]:
    """Return the statements of these cells, of an import one a name.

    expand: import the modules of star imports, to know what they bind; only the trusted process does.
    """
    nodes = (part for source in cells for node in statements(source) for part in _parts(node))
    return tuple(_following([_statement(node, expand=expand) for node in nodes]))


def _following(found: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements with what the functions and classes among them do where they are used.

    One that is not a definition binds what these bind among the globals: `load()`, where `load` says `global LOADED`.
    And it binds what it fills: `for x in ROWS: found.append(f(x))`.
    """
    known = {name for s in found if s.defines or only_imports(s.node) for name in s.binds}
    defined: dict[str, list[Statement]] = {}
    for one in found:
        for name in one.binds if one.defines else ():
            defined.setdefault(name, []).append(one)
    for one in found:
        touched, more = frozenset[str](), one.uses
        while more - touched:
            touched |= more
            more = frozenset(name for used in more for part in defined.get(used, ()) for name in part.uses)
        called = [part.declares for used in touched for part in defined.get(used, ())] if not one.defines else []
        more = filled(one.node) - known
        yield replace(one, touches=touched, binds=one.binds.union(more, *called), uses=one.uses | more)


def _parts(node: ast.stmt) -> list[ast.stmt]:
    """Return an import of several names as one each: another meaning of one says nothing of the others."""
    if isinstance(node, ast.Import):
        return [ast.copy_location(ast.Import([alias]), node) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), node) for alias in node.names]
    return [node]


def _statement(node: ast.stmt, *, expand: bool) -> Statement:
    if isinstance(node, ast.ImportFrom) and node.names[0].name == STAR:
        return Statement(node, _star_names(node) if expand else frozenset([STAR]), frozenset())
    try:
        source = ast.unparse(node)
        table = symtable.symtable(source, "<cell>", "exec")
        changed = frozenset(written_to(syntax_tree(source), table))
    except (RecursionError, MemoryError):
        return _by_names(node)
    bound = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    uses = frozenset({*looked_up(table), *changed, *(_added_to(node) & bound)})
    unseen = not isinstance(node, _DEFINING) and bool(uses & _BINDING_UNSEEN)
    return Statement(node, frozenset(bound | changed), uses, unseen, frozenset(declared(table)))


def _by_names(node: ast.stmt) -> Statement:
    """Return a statement too deep to be looked at scope by scope: whatever is a name in it may be a global one."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    stored = frozenset(part.id for part in names if not isinstance(part.ctx, ast.Load))
    return Statement(node, stored, frozenset(part.id for part in names))


def _star_names(node: ast.ImportFrom) -> frozenset[str]:
    """Return what `from x import *` binds; where x cannot be imported, nothing."""
    try:
        module = importlib.import_module(node.module or "")
    except Exception:  # a module of the student's, or one that is not installed
        return frozenset()
    public = getattr(module, "__all__", None)
    return frozenset(public if public is not None else (name for name in vars(module) if not name.startswith("_")))


def names_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a student's cell looks up among its globals before it binds them, and those that it binds.

    Nothing where it cannot be said: no text makes this fail.
    """
    if len(source) > _MAX_SOURCE:
        return frozenset(), frozenset()
    try:
        table = symtable.symtable("\n".join(_masked(source.split("\n"))), "<cell>", "exec")
        bound = frozenset(s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported())
        return _used_first(all_statements((source,))), bound
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(), frozenset()


def _used_first(parts: Sequence[Statement]) -> frozenset[str]:
    """Return the names that these statements use before they bind them, functions once all have run.

    A block binds a name before it uses it, unless it adds to it, or fills it and binds it nowhere.
    """
    found, later, bound = set[str](), set[str](), set[str]()
    for part in parts:
        if isinstance(part.node, ast.FunctionDef | ast.AsyncFunctionDef):
            later |= part.uses | (_added_to(part.node) & part.declares)
        else:
            added = _added_to(part.node) | (filled(part.node) - _assigned(part.node))
            own = part.binds - added if isinstance(part.node, _BLOCKS) else frozenset[str]()
            found |= part.uses - bound - own
        bound |= part.binds
    return frozenset(found | later - bound)


def _assigned(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store)}


def _added_to(node: ast.AST) -> frozenset[str]:
    """Return the names with an augmented assignment in this statement."""
    added = (n.target for n in ast.walk(node) if isinstance(n, ast.AugAssign))
    return frozenset(target.id for target in added if isinstance(target, ast.Name))


def say_names(source: str, names: Sequence[str]) -> None:
    """Print, as JSON, which of these names a cell uses first and which it binds; in the student's process."""
    print(json.dumps([sorted(found & set(names)) for found in names_in(source)]))
