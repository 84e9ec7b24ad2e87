"""Answers that differ from the solution by a line or two, written as that difference: several in one file, a task's.

    [first_fit]
    about = "Fails buckets-check: puts a parameter back into an older bucket that still has room."
    of = "buckets"
    changes = [
      ['for bucket in found[-1:]:', 'for bucket in found:'],
    ]

`of` names a function, class or method of the task (`"Bag.add"`). A change is whole lines before and after, indented
from the first of those before; they stand there once. So an edit of the solution elsewhere changes no answer, and one
that touches such a line says which.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.boundary.parsing import syntax_tree
from autograder.errors import SourceError
from autograder.markers import BEGIN_SOLUTION, END_SOLUTION

__all__ = ["Definition", "changed_lines", "definition", "first_line", "read_differences"]

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_KEYS = {
    "about": 'say which check catches it: "Fails softmax-check: overflows for large scores."',
    "of": 'name the function, class or method of the task that is changed: "softmax", "MLP.forward"',
    "changes": "write changes = [['the lines before', 'the lines after']]",
}


def read_differences(path: Path, cells: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, what it is about, and code of each answer; raise SourceError for one that fits no solution cell."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: {error}", hint="each answer is a table: [name]") from error
    for name, entry in entries.items():
        where = f"{path}: [{name}]"
        _check(where, entry)
        lines = definition(cells, entry["of"])
        if lines is None:
            raise SourceError(f"{where}: no solution cell defines {entry['of']}", hint=_KEYS["of"])
        for before, after in entry["changes"]:
            lines = changed_lines(lines, before, after)
            if lines is None:
                raise SourceError(
                    f"{where}: these lines do not stand once in {entry['of']}:\n{before}",
                    hint="the solution has changed: write the difference anew, with a line more around it",
                )
        yield name, entry["about"], _whole(lines, entry["of"])


def definition(cells: Iterable[str], of: str) -> list[str] | None:
    """Return the lines of a function, class or method of the solution cells, without their markers."""
    for source in cells:
        lines = [line for line in source.split("\n") if line.strip() not in {BEGIN_SOLUTION, END_SOLUTION}]
        node: Any = syntax_tree("\n".join(lines))
        for name in of.split("."):
            body = getattr(node, "body", [])
            node = next((n for n in body if isinstance(n, Definition) and n.name == name), None)
        if node is not None:
            return lines[first_line(node) - 1 : node.end_lineno]
    return None


def changed_lines(lines: Sequence[str], before: str, after: str) -> list[str] | None:
    """Return the lines with one run of them replaced; None if that does not stand there exactly once."""
    old = before.strip("\n").split("\n")
    places = [
        (start, indent)
        for start in range(len(lines) - len(old) + 1)
        for indent in [lines[start][: len(lines[start]) - len(lines[start].lstrip())]]
        if [_indented(line, indent) for line in old] == [line.rstrip() for line in lines[start : start + len(old)]]
    ]
    if len(places) != 1:
        return None
    start, indent = places[0]
    new = [_indented(line, indent) for line in after.strip("\n").split("\n")] if after.strip() else []
    return [*lines[:start], *new, *lines[start + len(old) :]]


def first_line(node: ast.stmt | ast.ExceptHandler) -> int:
    """Return the first line of a statement, that of its first decorator if it has one, counted from 1."""
    return int(min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]))


def _indented(line: str, indent: str) -> str:
    return f"{indent}{line}".rstrip()


def _whole(lines: Sequence[str], of: str) -> str:
    """Return a definition as an answer file has it: a method stands in a class of its own."""
    head = f"class {of.partition('.')[0]}:\n" if "." in of else ""
    return head + "\n".join(lines) + "\n"


def _check(where: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise SourceError(f"{where}: not a table", hint="each answer is a table: [name]")
    for key in sorted(_KEYS.keys() - entry.keys()):
        raise SourceError(f"{where}: {key} is missing", hint=_KEYS[key])
    for key in sorted(entry.keys() - _KEYS.keys()):
        raise SourceError(f"{where}: unknown key {key!r}", hint=f"known: {', '.join(_KEYS)}")
    for key in ("about", "of"):
        if not isinstance(entry[key], str) or not entry[key].strip():
            raise SourceError(f"{where}: {key} is empty", hint=_KEYS[key])
    changes = entry["changes"]
    if not isinstance(changes, list) or not changes or not all(map(_is_change, changes)):
        raise SourceError(f"{where}: changes: not a list of pairs", hint=_KEYS["changes"])


def _is_change(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(v, str) for v in value)
        and bool(value[0].strip())
    )
