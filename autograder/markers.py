"""Turns an instructor's notebook into a student's: a solution block becomes one line that says what is to be done."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial

from nbformat import NotebookNode

from autograder.errors import SourceError
from autograder.notebook import metadata_of

__all__ = [
    "BEGIN_HIDDEN",
    "BEGIN_SOLUTION",
    "CHECK",
    "DELIMITERS",
    "END_HIDDEN",
    "END_SOLUTION",
    "EXPLORE",
    "GIVEN",
    "TASK",
    "canonical",
    "clear",
    "clear_solutions",
    "strip_hidden",
]

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
DELIMITERS = ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
"""What nbgrader's ClearHiddenTests looks for, anywhere in a line, unless a course says otherwise."""
EXPLORE = "# explore: change anything here; this cell is not run when work is graded"
CHECK = "# check of {points}: run this cell, or open it to read what it asks"
GIVEN = "# given: run this cell; you need not read it"
"""What folded cells show of themselves: JupyterLab shows the first line."""
TASK = re.compile(r"^### (Task \d+)\. ", re.MULTILINE)
_HEADING = re.compile(r"^#{1,3} .*$", re.MULTILINE)
_WRITTEN = "_Write your answer here._"
_RAISE = "raise NotImplementedError"


def clear_solutions(notebook: NotebookNode) -> NotebookNode:
    """Replace every solution block of the notebook, in place; raise SourceError if one stands outside a function."""
    task = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (headings := _HEADING.findall(cell.source)):
            task = next(iter(TASK.findall(headings[-1])), "")
        nbgrader = metadata_of(cell)
        if nbgrader.get("solution") and cell.cell_type == "code":
            cell.source = clear(cell.source, task, partial("cell {!r}, line {}".format, nbgrader["grade_id"]))
        elif nbgrader.get("solution"):
            cell.source = "\n".join(_without_blocks(cell.source, _WRITTEN)[0])
    return notebook


def clear(code: str, task: str, where: Callable[[int], str]) -> str:
    """Return the code with each solution block replaced by `raise NotImplementedError("Task 2: softmax")`.

    where names a line of the cell in the SourceError that is raised if a block stands outside a function, or if what
    is left is not Python.
    """
    lines, blocks = _without_blocks(code, _RAISE)
    try:
        functions = _functions_that_raise(ast.parse("\n".join(lines)))
    except SyntaxError as error:
        raise SourceError(
            f"{where(next(iter(blocks.values()), 1))}: without its solution the cell is not Python: {error.msg}",
            hint="a block holds whole statements, indented like its markers",
        ) from None
    for number, begin in blocks.items():
        if not (name := functions.get(number)):
            raise SourceError(
                f"{where(begin)}: a SOLUTION block outside a function",
                hint="a task is one function or the methods of one class, so that a blank one fails cleanly",
            )
        lines[number - 1] += f'("{f"{task}: {name}" if task else name}")'
    return "\n".join(lines)


def canonical(source: str, delimiters: tuple[str, str] = DELIMITERS) -> str:
    """Return a test's source with our own markers wherever nbgrader begins and ends to hide lines.

    delimiters: the texts that ClearHiddenTests of the course looks for. It hides the lines that hold them, too: a
    comment becomes the marker, a line that does something as well stays, within the markers.
    """
    begin, end = delimiters
    kept: list[str] = []
    inside = False
    for line in source.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        code = [] if line.lstrip().startswith("#") else [line]
        if not inside and begin in line:
            kept += [indent + BEGIN_HIDDEN, *code]
            inside = True
        elif end in line:
            kept += [indent + BEGIN_HIDDEN] if code and not inside else []
            kept += [*code, indent + END_HIDDEN]
            inside = False
        else:
            kept.append(line)
    return "\n".join(kept)


def strip_hidden(source: str, delimiters: tuple[str, str] = DELIMITERS) -> str:
    """Return a test cell's source without its hidden blocks, as students receive it."""
    kept, hidden = [], False
    for line in canonical(source, delimiters).split("\n"):
        hidden = hidden or line.strip() == BEGIN_HIDDEN
        if not hidden and line.strip() != END_HIDDEN:
            kept.append(line)
        hidden = hidden and line.strip() != END_HIDDEN
    return "\n".join(kept)


def _without_blocks(source: str, instead: str) -> tuple[list[str], dict[int, int]]:
    """Return the lines that are left, and for the number of each new one that of the block's first line."""
    kept: list[str] = []
    begins: dict[int, int] = {}
    inside = False
    for number, line in enumerate(source.split("\n"), 1):
        if line.strip() == BEGIN_SOLUTION:
            inside = True
            kept.append(line[: len(line) - len(line.lstrip())] + instead)
            begins[len(kept)] = number
        if not inside:
            kept.append(line)
        inside = inside and line.strip() != END_SOLUTION
    return kept, begins


def _functions_that_raise(tree: ast.Module) -> dict[int, str]:
    """Return, for the line of each `raise`, the qualified name of the function that it stands in, or nothing."""
    found: dict[int, str] = {}

    def visit(node: ast.AST, prefix: str, function: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                visit(child, f"{prefix}{child.name}.", prefix + child.name)
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.", "")
            else:
                if isinstance(child, ast.Raise):
                    found[child.lineno] = function
                visit(child, prefix, function)

    visit(tree, "", "")
    return found
