"""Builds a submission from a lab's source: the solution, a blank, or a file of other answers put in its place."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.boundary.parsing import syntax_tree
from autograder.errors import SourceError
from autograder.markers import END_SOLUTION
from autograder.notebook import metadata_of

__all__ = ["Variant", "blank_out", "find_variants", "put_answers", "read_variant"]

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_CHECKS = r"[a-z0-9-]+(?:, [a-z0-9-]+)*"
_HEADER = re.compile(
    rf"(?:Earns nothing of (?P<nothing>{_CHECKS})(?:, fails (?P<also>{_CHECKS}))?|Fails (?P<checks>{_CHECKS}))"
    r": (?P<reason>.+)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Variant:
    """A wrong or another right answer; fails names the checks that take points off, nothing those that give none."""

    path: Path
    code: str
    reason: str
    fails: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ()


def find_variants(folder: Path, kind: str) -> list[Variant]:
    """Return the lab's `wrong` or `right` answers, by file name."""
    return [read_variant(path, wrong=kind == "wrong") for path in sorted((folder / kind).glob("*.py"))]


def read_variant(path: Path, *, wrong: bool) -> Variant:
    """Return one answer file; raise SourceError if its docstring does not say what it is."""
    try:
        text = path.read_text(encoding="utf-8")
        tree = syntax_tree(text)
    except SyntaxError as error:
        raise SourceError(
            f"{path}:{error.lineno or 1}: {error.msg}", hint="an answer is Python that can be run"
        ) from error
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error
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
    if not (wrong and match):
        return Variant(path, code, match["reason"] if match else header)
    nothing = _listed(match["nothing"])
    fails = (*nothing, *_listed(match["also"]), *_listed(match["checks"]))
    return Variant(path, code, match["reason"], fails, nothing)


def _listed(checks: str | None) -> tuple[str, ...]:
    return tuple(checks.split(", ")) if checks else ()


def put_answers(notebook: nbformat.NotebookNode, variant: Variant) -> nbformat.NotebookNode:
    """Replace each function or class that the answer file defines, in place; helpers go above the next one.

    A class that lacks some of the task's methods is a patch: it replaces those that it has.
    """
    lines = variant.code.split("\n")
    pending: list[str] = []
    placed = False
    for node in syntax_tree(variant.code).body:
        pending.append("\n".join(lines[_first_line(node) - 1 : node.end_lineno]))
        cell = _defining(notebook, node.name) if isinstance(node, _Definition) else None
        if cell is not None and isinstance(node, _Definition):
            cell.source = _put(cell.source, node, pending, lines)
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
        nbgrader = metadata_of(cell)
        if nbgrader.get("solution") and nbgrader["grade_id"] not in keep:
            cell.source = stubs[cell.id]


def _put(source: str, node: _Definition, pieces: list[str], lines: list[str]) -> str:
    """Return a task cell with a definition in place of its own; the last of the pieces is that definition."""
    if isinstance(node, ast.ClassDef):
        task = next(n for n in syntax_tree(source).body if isinstance(n, ast.ClassDef) and n.name == node.name)
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        if methods and methods.keys() < {n.name for n in task.body if isinstance(n, ast.FunctionDef)}:
            for name, method in methods.items():
                source = _replaced(
                    source, name, "\n".join(lines[_first_line(method) - 1 : method.end_lineno]), node.name
                )
            pieces = pieces[:-1]
            return "\n\n\n".join([*pieces, source]) if pieces else source
    return _replaced(source, node.name, "\n\n\n".join(pieces))


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(d.lineno for d in decorators)]))


def _defining(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode | None:
    for cell in notebook.cells:
        if cell.cell_type == "code" and metadata_of(cell).get("solution"):
            body = syntax_tree(cell.source).body
            if any(isinstance(node, _Definition) and node.name == name for node in body):
                return cell
    return None


def _replaced(source: str, name: str, piece: str, owner: str = "") -> str:
    """Return the source with a function or class, or a method of its owner, replaced."""
    lines = source.split("\n")
    body: list[ast.stmt] = syntax_tree(source).body
    if owner:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == owner).body
    node = next(n for n in body if isinstance(n, _Definition) and n.name == name)
    end = node.end_lineno or node.lineno
    if lines[end : end + 1] and lines[end].strip() == END_SOLUTION:  # a comment, which is no part of the function
        end += 1
    lines[_first_line(node) - 1 : end] = piece.split("\n")
    return "\n".join(lines)
