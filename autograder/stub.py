"""Turns an instructor's notebook into a student's: a solution block becomes one line that says what is to be done."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.errors import SourceError

__all__ = ["BEGIN_HIDDEN", "BEGIN_SOLUTION", "END_HIDDEN", "END_SOLUTION", "TASK", "clear_solutions", "strip_hidden"]

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
TASK = re.compile(r"^### (Task \d+)\. ", re.MULTILINE)
_WRITTEN = "_Write your answer here._"


def clear_solutions(notebook: NotebookNode) -> NotebookNode:
    """Replace every solution block of the notebook, in place; raise SourceError if one stands outside a function."""
    task = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (headings := TASK.findall(cell.source)):
            task = headings[-1]
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = _clear_cell(cell, task)
    return notebook


def strip_hidden(source: str) -> str:
    """Return a test cell's source without its hidden blocks, as students receive it."""
    kept, hidden = [], False
    for line in source.split("\n"):
        hidden = hidden or line.strip() == BEGIN_HIDDEN
        if not hidden:
            kept.append(line)
        hidden = hidden and line.strip() != END_HIDDEN
    return "\n".join(kept)


def _clear_cell(cell: NotebookNode, task: str) -> str:
    lines = cell.source.split("\n")
    functions = _functions(cell.source) if cell.cell_type == "code" else []
    kept: list[str] = []
    inside = False
    for number, line in enumerate(lines, 1):
        if line.strip() == BEGIN_SOLUTION:
            inside = True
            kept.append(_stub(line, number, functions, task) if cell.cell_type == "code" else _WRITTEN)
        if not inside:
            kept.append(line)
        inside = inside and line.strip() != END_SOLUTION
    return "\n".join(kept)


def _stub(marker: str, line: int, functions: list[_Function], task: str) -> str:
    around = [f for f in functions if f.first < line <= f.last + 1 and marker.startswith(" " * (f.indent + 1))]
    if not around:
        raise SourceError(
            f"line {line} of the cell: a SOLUTION block outside a function",
            hint="a task is one function or class, so that a blank one fails cleanly",
        )
    name = max(around, key=lambda f: f.indent).name
    indent = marker[: len(marker) - len(marker.lstrip())]
    return f'{indent}raise NotImplementedError("{f"{task}: {name}" if task else name}")'


@dataclass(frozen=True)
class _Function:
    name: str
    first: int
    last: int
    indent: int


def _functions(code: str) -> list[_Function]:
    found: list[_Function] = []

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                found.append(
                    _Function(prefix + node.name, node.lineno, node.end_lineno or node.lineno, node.col_offset)
                )
            elif isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")

    visit(ast.parse(code).body, "")
    return found
