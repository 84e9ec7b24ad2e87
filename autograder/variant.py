"""Builds a submission from a lab's source: the solution, a blank, or a file of other answers put in its place."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.errors import SourceError

__all__ = ["Variant", "blank_out", "find_variants", "put_answers", "read_variant"]

_HEADER = re.compile(r"Fails (?P<checks>[a-z0-9-]+(?:, [a-z0-9-]+)*): (?P<reason>.+)", re.DOTALL)


@dataclass(frozen=True)
class Variant:
    """A wrong or another right answer; fails names the checks that must take points off, in order."""

    path: Path
    code: str
    reason: str
    fails: tuple[str, ...] = ()


def find_variants(folder: Path, kind: str) -> list[Variant]:
    """Return the lab's `wrong` or `right` answers, by file name."""
    return [read_variant(path, wrong=kind == "wrong") for path in sorted((folder / kind).glob("*.py"))]


def read_variant(path: Path, *, wrong: bool) -> Variant:
    """Return one answer file; raise SourceError if its docstring does not say what it is."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    header = ast.get_docstring(tree) or ""
    match = _HEADER.fullmatch(header)
    if wrong and not match:
        raise SourceError(
            f"{path}:1: a wrong answer says which check catches it",
            hint='begin with """Fails softmax-check: overflows for large scores."""',
        )
    if not header:
        raise SourceError(f"{path}:1: no docstring", hint="say in one sentence what is different")
    code = "\n".join(text.split("\n")[tree.body[0].end_lineno :]).strip() + "\n"
    fails = tuple(match["checks"].split(", ")) if wrong and match else ()
    return Variant(path, code, match["reason"] if match else header, fails)


def put_answers(notebook: nbformat.NotebookNode, variant: Variant) -> nbformat.NotebookNode:
    """Replace each function or class that the answer file defines, in place; helpers go above the next one."""
    tree = ast.parse(variant.code)
    lines = variant.code.split("\n")
    pending: list[str] = []
    placed = False
    for node in tree.body:
        piece = "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
        cell = _defining(notebook, node) if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
        if cell is None:
            pending.append(piece)
            continue
        cell.source = _replaced(cell.source, getattr(node, "name", ""), "\n\n\n".join([*pending, piece]))
        pending, placed = [], True
    if pending or not placed:
        raise SourceError(
            f"{variant.path}: {'code after the last answer' if placed else 'nothing in it replaces a task'}",
            hint="define a function or class under the name that the task gives it; helpers stand above it",
        )
    return notebook


def blank_out(notebook: nbformat.NotebookNode, released: nbformat.NotebookNode, keep: frozenset[str]) -> None:
    """Put the released stub back into every solution cell whose grade_id is not in `keep`, in place."""
    stubs = {cell.id: cell.source for cell in released.cells}
    for cell in notebook.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if nbgrader.get("solution") and nbgrader["grade_id"] not in keep:
            cell.source = stubs[cell.id]


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(d.lineno for d in decorators)]))


def _defining(notebook: nbformat.NotebookNode, node: ast.FunctionDef | ast.ClassDef) -> nbformat.NotebookNode | None:
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution"):
            names = [n.name for n in ast.parse(cell.source).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
            if node.name in names:
                return cell
    return None


def _replaced(source: str, name: str, piece: str) -> str:
    lines = source.split("\n")
    for node in ast.parse(source).body:
        if getattr(node, "name", None) == name:
            lines[_first_line(node) - 1 : node.end_lineno] = piece.split("\n")
            break
    return "\n".join(lines)
