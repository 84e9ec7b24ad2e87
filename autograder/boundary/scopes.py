"""Which global names a piece of code uses, binds in its functions, and writes to: what is a function's own is not."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

__all__ = ["declared", "filled", "looked_up", "root_of", "run_at_once", "written_to"]

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FILLING = {
    "at", "copyto", "delattr", "delitem", "fill_diagonal", "heapify", "heappop", "heappush", "heappushpop",
    "heapreplace", "insort", "insort_left", "insort_right", "place", "put", "put_along_axis", "putmask", "setattr",
    "setitem", "shuffle",
}  # fmt: skip
"""Functions of libraries that change their first argument."""
_WRITING = {"dump", "pprint"}
"""Those that write to their second one."""
_WRITTEN_TO = {"file", "fp", "out", "stream"}
"""Names under which functions get what they write to: `print(found, file=log)`."""
_CHANGING = {
    "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft", "put",
    "put_nowait", "remove", "reverse", "setdefault", "sort", "write", "writelines", "writerow", "writerows",
}  # fmt: skip
"""Methods that change what they are of, wherever they stand: `[rows.append(x) for x in xs]`, `map(rows.append, xs)`."""
_TYPES = {"bytearray", "dict", "list", "set"}
_MODULES = {
    "F", "bisect", "copy", "heapq", "itertools", "json", "math", "nn", "np", "numpy", "operator", "os", "pd", "pickle",
    "plt", "random", "requests", "scipy", "shutil", "sns", "sys", "tf", "time", "torch",
}  # fmt: skip
"""Usual names of modules, whose functions change no module: `np.sort(xs)`."""


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
    parts = [*run_at_once(node)]
    owners = [part.value for part in parts if isinstance(part, ast.Attribute) and part.attr in _CHANGING]
    for part in parts:
        if isinstance(part, ast.Expr):  # what it returns is of no use
            owners += [call.func.value for call in _calls(part) if isinstance(call.func, ast.Attribute)]
        if isinstance(part, ast.Call):
            owners += _filled_by(part)
    return frozenset(filter(None, map(root_of, owners))) - _TYPES - _MODULES


def _calls(statement: ast.Expr) -> list[ast.Call]:
    """Return the calls whose value a statement throws away: it, or each of a comprehension, or one of two."""
    left, found = [statement.value], []
    while left:
        part = left.pop()
        if isinstance(part, ast.Call):
            found.append(part)
        elif isinstance(part, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            left.append(part.elt)
        elif isinstance(part, ast.IfExp):
            left += [part.body, part.orelse]
        elif isinstance(part, ast.BoolOp | ast.Tuple | ast.List):
            left += part.values if isinstance(part, ast.BoolOp) else part.elts
    return found


def _filled_by(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that it fills, as its name and theirs say."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    of_type = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") in _TYPES
    first = call.args[:1] if name in _FILLING or of_type else []
    return [*first, *(call.args[1:2] if name in _WRITING else []), *_named_to_write(call)]


def _named_to_write(call: ast.Call) -> list[ast.expr]:
    return [word.value for word in call.keywords if word.arg in _WRITTEN_TO]


def root_of(node: ast.AST, *, calls: bool = False) -> str:
    """Return the name that an expression of attributes, items and, if so said, calls begins with; else nothing."""
    while isinstance(node, ast.Attribute | ast.Subscript) or (calls and isinstance(node, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
