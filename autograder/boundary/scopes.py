"""Which global names a piece of code uses, binds in its functions, and writes to: what is a function's own is not."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

__all__ = ["declared", "filled", "looked_up", "root_of", "run_at_once", "written_to"]

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FILLING = {
    "copyto", "fill_diagonal", "heapify", "heappop", "heappush", "insort", "insort_left", "insort_right", "place",
    "put", "setattr", "shuffle",
}  # fmt: skip
"""Functions of libraries that change their first argument."""


def looked_up(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that are looked up in a piece of code, in its functions too."""
    module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (module or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from looked_up(child)


def declared(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that the functions in a piece of code bind, having said that they are global."""
    for child in table.get_children():
        for symbol in child.get_symbols():
            if symbol.is_declared_global() and (symbol.is_assigned() or symbol.is_imported()):
                yield symbol.get_name()
        yield from declared(child)


def written_to(node: ast.AST, table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names whose attributes or items are set here; a function's own `out[i] = ...` sets none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from written_to(child, _scope(child, table))
            continue
        if isinstance(child, ast.Attribute | ast.Subscript) and isinstance(child.ctx, ast.Store):
            owner = child.value
            if isinstance(owner, ast.Name) and _is_global(owner.id, table):
                yield owner.id
        yield from written_to(child, table)


def _scope(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, table: symtable.SymbolTable
) -> symtable.SymbolTable:
    own = (t for t in table.get_children() if (t.get_name(), t.get_lineno()) == (node.name, node.lineno))
    return next(own, table)


def _is_global(name: str, table: symtable.SymbolTable) -> bool:
    try:
        return table.get_type() == "module" or table.lookup(name).is_global()
    except KeyError:
        return True


def run_at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is run with a statement; what functions in it do is run later, if at all."""
    left = [node]
    while left:
        if not isinstance(part := left.pop(), _FUNCTIONS):
            yield part
            left += ast.iter_child_nodes(part)


def filled(node: ast.stmt) -> frozenset[str]:
    """Return the names that this statement calls something on for what that does: `rows.append(3)`, `shuffle(rows)`."""
    calls = [p.value for p in run_at_once(node) if isinstance(p, ast.Expr) and isinstance(p.value, ast.Call)]
    owners = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
    named = [(call, getattr(call.func, "attr", getattr(call.func, "id", ""))) for call in calls]
    owners += [call.args[0] for call, name in named if name in _FILLING and call.args]
    return frozenset(filter(None, map(root_of, owners)))


def root_of(node: ast.AST, *, calls: bool = False) -> str:
    """Return the name that an expression of attributes, items and, if so said, calls begins with; else nothing."""
    while isinstance(node, ast.Attribute | ast.Subscript) or (calls and isinstance(node, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
