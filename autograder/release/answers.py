"""Builds a submission from a lab's source: the solution, a blank, or a file of other answers put in its place."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import nbformat

from autograder.boundary.parsing import syntax_tree
from autograder.errors import SourceError
from autograder.markers import END_SOLUTION
from autograder.notebook import metadata_of
from autograder.release.differences import Definition, first_line, read_differences
from autograder.release.source import read_source

__all__ = ["Variant", "blank_out", "find_variants", "put_answers", "read_variant"]

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
    entry: str = ""
    """Its table in a file of differences."""

    @property
    def name(self) -> str:
        return self.entry or self.path.stem


def find_variants(folder: Path, kind: str) -> list[Variant]:
    """Return the lab's `wrong` or `right` answers, by name: files of their own, and differences from the solution."""
    wrong = kind == "wrong"
    found = [read_variant(path, wrong=wrong) for path in (folder / kind).glob("*.py")]
    if differences := sorted((folder / kind).glob("*.toml")):
        cells = [cell.source for cell in read_source(folder).cells if cell.solution and cell.cell_type == "code"]
        found += [
            _variant(path, code, about, wrong=wrong, entry=entry)
            for path in differences
            for entry, about, code in read_differences(path, cells)
        ]
    found.sort(key=lambda variant: variant.name)
    for one, other in pairwise(found):
        if one.name == other.name:
            raise SourceError(f"{one.path}, {other.path}: both have {one.name}", hint="give one another name")
    return found


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
    code = "\n".join(text.split("\n")[tree.body[0].end_lineno :]).strip() + "\n" if header else ""
    return _variant(path, code, header, wrong=wrong)


def _variant(path: Path, code: str, header: str, *, wrong: bool, entry: str = "") -> Variant:
    where = f"{path}: [{entry}]" if entry else f"{path}:1"
    match = _HEADER.fullmatch(header)
    if wrong and not match:
        raise SourceError(
            f"{where}: a wrong answer says which check catches it",
            hint='begin with """Fails softmax-check: overflows for large scores."""',
        )
    if not header:
        raise SourceError(f"{where}: no docstring", hint="say in one sentence what is different")
    if not (wrong and match):
        return Variant(path, code, match["reason"] if match else header, entry=entry)
    nothing = _listed(match["nothing"])
    fails = (*nothing, *_listed(match["also"]), *_listed(match["checks"]))
    return Variant(path, code, match["reason"], fails, nothing, entry)


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
        pending.append("\n".join(lines[first_line(node) - 1 : node.end_lineno]))
        cell = _defining(notebook, node.name) if isinstance(node, Definition) else None
        if cell is not None and isinstance(node, Definition):
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


def _put(source: str, node: Definition, pieces: list[str], lines: list[str]) -> str:
    """Return a task cell with a definition in place of its own; the last of the pieces is that definition."""
    if isinstance(node, ast.ClassDef):
        task = next(n for n in syntax_tree(source).body if isinstance(n, ast.ClassDef) and n.name == node.name)
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        if methods and methods.keys() < {n.name for n in task.body if isinstance(n, ast.FunctionDef)}:
            for name, method in methods.items():
                source = _replaced(
                    source, name, "\n".join(lines[first_line(method) - 1 : method.end_lineno]), node.name
                )
            pieces = pieces[:-1]
            return "\n\n\n".join([*pieces, source]) if pieces else source
    return _replaced(source, node.name, "\n\n\n".join(pieces))


def _defining(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode | None:
    for cell in notebook.cells:
        if cell.cell_type == "code" and metadata_of(cell).get("solution"):
            body = syntax_tree(cell.source).body
            if any(isinstance(node, Definition) and node.name == name for node in body):
                return cell
    return None


def _replaced(source: str, name: str, piece: str, owner: str = "") -> str:
    """Return the source with a function or class, or a method of its owner, replaced."""
    lines = source.split("\n")
    body: list[ast.stmt] = syntax_tree(source).body
    if owner:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == owner).body
    node = next(n for n in body if isinstance(n, Definition) and n.name == name)
    end = node.end_lineno or node.lineno
    if lines[end : end + 1] and lines[end].strip() == END_SOLUTION:  # a comment, which is no part of the function
        end += 1
    lines[first_line(node) - 1 : end] = piece.split("\n")
    return "\n".join(lines)
