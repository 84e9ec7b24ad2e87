"""Rules for test cells: whose names they use, how they end, and which cases may be hidden."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

from autograder.errors import SourceError
from autograder.source import LabSource, SourceCell

__all__ = ["check_tests", "defined_names"]

_CASES = {"case", "hidden_case"}


def check_tests(source: LabSource) -> None:
    """Raise SourceError for the first test cell that trusts a name it should not, or is not scored as it says."""
    student = {name for cell in source.cells if cell.solution for name in defined_names(cell)}
    labkit_names: set[str] = set()
    for cell in source.cells:
        if cell.test:
            _check_names(source, cell, student | labkit_names)
            _check_score(source, cell)
            _check_hidden(source, cell)
            _check_cases(source, cell, student)
        elif cell.locked:
            labkit_names |= _labkit_imports(cell)


def defined_names(cell: SourceCell) -> set[str]:
    """Return the names that a code cell defines at its top level."""
    if cell.cell_type != "code":
        return set()
    table = symtable.symtable(cell.source, "cell", "exec")
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}


def _check_names(source: LabSource, cell: SourceCell, allowed: set[str]) -> None:
    known = allowed | defined_names(cell) | set(dir(builtins))
    for name in sorted(_global_names(symtable.symtable(cell.source, "cell", "exec"))):
        if name not in known:
            raise SourceError(
                f"{source.where(cell)}: the test uses {name!r}, which it neither imports nor defines",
                hint="a test trusts only what it imports itself, labkit, and the functions it tests",
            )


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (module or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_names(child)


def _labkit_imports(cell: SourceCell) -> set[str]:
    imports = [node for node in ast.parse(cell.source).body if isinstance(node, ast.ImportFrom)]
    return {a.asname or a.name for node in imports if (node.module or "").split(".")[0] == "labkit" for a in node.names}


def _check_score(source: LabSource, cell: SourceCell) -> None:
    body = ast.parse(cell.source).body
    if not body or ast.unparse(body[-1]) != f"check.score({cell.points:g})":
        raise SourceError(
            f"{source.where(cell)}: a test cell ends with its score",
            hint=f"write check.score({cell.points:g}) as the last line",
        )


def _check_hidden(source: LabSource, cell: SourceCell) -> None:
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Attribute) and node.attr in _CASES and _is_check(node.value):
            line = node.lineno - 1
            inside = any(block.begin < line < block.end for block in cell.blocks)
            if inside != (node.attr == "hidden_case"):
                problem = "check.case in a hidden block" if inside else "check.hidden_case outside a hidden block"
                raise SourceError(
                    f"{source.where(cell, node.lineno)}: {problem}",
                    hint="hidden blocks use check.hidden_case, so that feedback shows no values",
                )


def _check_cases(source: LabSource, cell: SourceCell, student: set[str]) -> None:
    """A student's function called outside a case could end the cell and cost the cases after it."""
    for call in _calls_outside_cases(ast.parse(cell.source)):
        if isinstance(call.func, ast.Name) and call.func.id in student:
            raise SourceError(
                f"{source.where(cell, call.lineno)}: {call.func.id}() is called outside a case",
                hint="call it inside `with check.case(...)`: an exception there costs one case, not the cell",
            )


def _calls_outside_cases(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(child, ast.With) and any(_is_case(item.context_expr) for item in child.items):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from _calls_outside_cases(child)


def _is_case(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in _CASES and _is_check(function.value)


def _is_check(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "check"
