"""Which global names a piece of code uses, binds in its functions, and writes to: what is a function's own is not."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

__all__ = ["declared", "looked_up", "written_to"]


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
