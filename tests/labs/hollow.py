"""Whole labs answered without a thought: each task runs as it should, and then its result is emptied.

Usage: python -m tests.labs.hollow LAB [STRATEGY ...]; prints, as JSON in the last line, the cases that
such a notebook passes, by strategy and test cell. Unlike `thoughtless`, which empties one task beside correct ones,
this finds checks that compare the student with the student.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from pathlib import Path

import nbformat

from autograder.execution import preloads
from autograder.proof.prepared import Prepared
from autograder.release.build import build
from autograder.release.source import LabSource, SourceCell, read_source
from tests.labs.hollow_answers import _hollow

__all__ = ["STRATEGIES", "passed"]

ROOT = Path(__file__).parents[2]
STRATEGIES = ("zeros", "ones", "the input", "nothing done")
_HELPER = inspect.getsource(_hollow)


def passed(lab: Path, strategies: tuple[str, ...] = STRATEGIES) -> dict[str, dict[str, list[str]]]:
    """Return the titles of the cases that passed, by strategy and test cell, but for those that compare nothing."""
    source, release = read_source(lab), build(lab)
    found: dict[str, dict[str, list[str]]] = {}
    modules = preloads((cell.source for cell in source.cells), source.lab.frameworks)
    with Prepared(nbformat.reads(release.source_notebook.decode(), as_version=4), modules, time_s=300) as prepared:
        for strategy in strategies:
            outcomes = prepared.outcomes(_emptied(source, release.source_notebook, strategy))
            cases = {key: list(outcome.passed) for key, outcome in outcomes.items() if outcome.passed}
            if cases:
                found[strategy] = cases
    return found


def _emptied(source: LabSource, notebook: bytes, strategy: str) -> nbformat.NotebookNode:
    emptied = nbformat.reads(notebook.decode(), as_version=4)
    tasks = {cell.grade_id: cell for cell in source.cells if cell.solution and cell.cell_type == "code"}
    for cell in emptied.cells:
        if cell.id in tasks:
            cell.source = _wrapped(tasks[cell.id], strategy)
    return emptied


def _wrapped(cell: SourceCell, strategy: str) -> str:
    """Return the cell with each function and method that a student writes, or could change, in a wrapper."""
    tree = ast.parse(cell.source)
    for node in tree.body:
        inner = [n for n in node.body if isinstance(n, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else []
        for function in [node] if isinstance(node, ast.FunctionDef) else inner:
            function.decorator_list.append(ast.parse(f"_hollow({strategy!r})", mode="eval").body)
    return _HELPER + "\n\n" + ast.unparse(ast.fix_missing_locations(tree))


if __name__ == "__main__":
    chosen = tuple(sys.argv[2:]) or STRATEGIES
    print(json.dumps(passed(ROOT / "solutions" / sys.argv[1], chosen)))
