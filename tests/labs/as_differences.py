"""Writes wrong answers that are nearly the solution as differences: `python -m tests.labs.as_differences LAB`."""

from __future__ import annotations

import ast
import copy
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from autograder.release.answers import Variant, find_variants
from autograder.release.differences import Definition, changed_lines, definition, first_line
from autograder.release.source import SourceCell, read_source

SOLUTIONS = Path(__file__).parents[2] / "solutions"
MOST_LINES = 3
"""An answer that changes more lines than this is read more easily as a whole."""

Change = tuple[str, str]


class Written(NamedTuple):
    """An answer as a difference: the task's cell that it changes, the definition, and the changes."""

    task: str
    of: str
    changes: list[Change]


class Unit(NamedTuple):
    """A statement, or the head of one that holds others: what it says, and its lines, the last left out."""

    says: str
    begin: int
    end: int


def as_difference(variant: Variant, cells: Sequence[SourceCell]) -> Written | None:
    """Return the answer as a difference; None if it is not nearly the solution, or defines more than one thing."""
    body = ast.parse(variant.code).body
    if len(body) != 1 or not isinstance(body[0], Definition):
        return None
    for of, node in _parts(body[0]):
        for cell in cells:
            own = definition([cell.source], of)
            if own is None:
                continue
            lines = variant.code.split("\n")[first_line(node) - 1 : node.end_lineno]
            changes = _changes(own, lines)
            if changes and _gives(own, changes, lines):
                return Written(cell.grade_id, of, changes)
    return None


def _parts(node: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    """Yield what the answer may be a difference of: its one method, or all of it."""
    assert isinstance(node, Definition)
    if isinstance(node, ast.ClassDef) and len(node.body) == 1 and isinstance(node.body[0], ast.FunctionDef):
        yield f"{node.name}.{node.body[0].name}", node.body[0]
    yield node.name, node


def _changes(own: Sequence[str], lines: Sequence[str]) -> list[Change] | None:
    old, new = _units(own), _units(lines)
    found: list[Change] = []
    size = 0
    says = [unit.says for unit in old], [unit.says for unit in new]
    for tag, i, i_end, j, j_end in SequenceMatcher(None, *says, autojunk=False).get_opcodes():
        if tag != "equal":
            size += max(i_end - i, j_end - j)
            change = _change(own, lines, old, new, (i, i_end, j, j_end)) if size <= MOST_LINES else None
            if change is None:
                return None
            found.append(change)
    return found


def _change(
    own: Sequence[str], lines: Sequence[str], old: Sequence[Unit], new: Sequence[Unit], where: tuple[int, int, int, int]
) -> Change | None:
    """Return a change with as many statements around it as make it the only such place."""
    i, i_end, j, j_end = where
    while True:
        if i < i_end:
            before = own[old[i].begin : old[i_end - 1].end]
            after = lines[new[j].begin : new[j_end - 1].end] if j < j_end else []
            indent = _indent(before[0])
            inner = all(_indent(line) >= indent for line in (*before, *after) if line.strip())
            change = _text(before, indent), _text(after, indent)
            if inner and changed_lines(own, *change) is not None:
                return change
        if i > 1 and j > 1:
            i, j = i - 1, j - 1
        elif i_end < len(old) and j_end < len(new):
            i_end, j_end = i_end + 1, j_end + 1
        else:
            return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text(lines: Sequence[str], indent: int) -> str:
    return "\n".join(line[indent:].rstrip() for line in lines)


def _units(lines: Sequence[str]) -> list[Unit]:
    return list(_units_of(_parsed(lines), 0, lines))


def _units_of(node: ast.AST, depth: int, lines: Sequence[str], word: str = "") -> Iterator[Unit]:
    """Yield a statement's head, then what it holds."""
    assert isinstance(node, ast.stmt | ast.ExceptHandler)
    blocks = [(name, getattr(node, name, [])) for name in ("body", "handlers", "orelse", "finalbody")]
    held = [child for _, block in blocks for child in block]
    begin = first_line(node) - 1
    if not held:
        yield Unit(f"{depth} {word}{ast.unparse(node)}", begin, node.end_lineno or node.lineno)
        return
    yield Unit(f"{depth} {word}{_head(node)}", begin, _end_of_head(node, lines))
    for name, block in blocks:
        inner = depth + (name != "handlers")
        if block and name in {"orelse", "finalbody"}:
            at = first_line(block[0]) - 1
            if lines[at].lstrip().startswith("elif "):
                yield from _units_of(block[0], depth, lines, "el")
                continue
            at = next(n for n in range(at - 1, -1, -1) if lines[n].lstrip().startswith(("else:", "finally:")))
            yield Unit(f"{depth} {lines[at].strip()}", at, at + 1)
        for child in block:
            yield from _units_of(child, inner, lines)


def _head(node: ast.AST) -> str:
    """Return what a statement says before what it holds: `for x in y:`."""
    bare = copy.copy(node)
    for name in ("body", "handlers", "orelse", "finalbody"):
        if hasattr(bare, name):
            setattr(bare, name, [])
    if isinstance(bare, ast.Try):
        return "try:"
    return ast.unparse(bare)


def _end_of_head(node: Any, lines: Sequence[str]) -> int:
    """Return the line after the head: its first block, documentation or remark begins there."""
    end = int(getattr(node, "documented", 0) or first_line(node.body[0])) - 1
    while lines[end - 1].lstrip().startswith("#") or not lines[end - 1].strip():
        end -= 1
    return end


def _parsed(lines: Sequence[str]) -> ast.stmt:
    """Return a definition without its documentation and annotations, both of which answers leave out."""
    margin = _indent(lines[0])
    tree = ast.parse("\n".join(line[margin:] for line in lines))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, Definition) and ast.get_docstring(node) is not None:
            node.documented = node.body[0].lineno  # type: ignore[union-attr]
            node.body = node.body[1:] or [ast.copy_location(ast.Pass(), node.body[0])]
    return _Plain().visit(tree).body[0]  # type: ignore[no-any-return]


class _Plain(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno), node)


def _gives(own: Sequence[str], changes: Sequence[Change], lines: Sequence[str]) -> bool:
    changed: Sequence[str] | None = own
    for change in changes:
        changed = None if changed is None else changed_lines(changed, *change)
    return changed is not None and ast.dump(_parsed(changed)) == ast.dump(_parsed(lines))


def as_toml(variant: Variant, written: Written) -> str:
    """Return the table of one answer."""
    if variant.nothing:
        also = [check for check in variant.fails if check not in variant.nothing]
        head = f"Earns nothing of {', '.join(variant.nothing)}" + (f", fails {', '.join(also)}" if also else "")
    else:
        head = f"Fails {', '.join(variant.fails)}" if variant.fails else ""
    about = f"{head}: {variant.reason}" if head else variant.reason
    pairs = "".join(f"  [{_quoted(before)}, {_quoted(after)}],\n" for before, after in written.changes)
    about = " ".join(about.split())
    return f'[{variant.name}]\nabout = {_quoted(about)}\nof = "{written.of}"\nchanges = [\n{pairs}]\n'


def _quoted(text: str) -> str:
    if "'''" in text or (text.endswith("'") and ("\n" in text or '"' in text)):
        raise ValueError(f"cannot be written in TOML without escapes: {text}")
    if "\n" in text:
        return f"'''\n{text}'''"
    if "'" in text:
        return f'"{text}"' if '"' not in text and "\\" not in text else f"'''{text}'''"
    return f'"{text}"' if text and '"' not in text and "\\" not in text else f"'{text}'"


def rewrite(folder: Path) -> tuple[int, int]:
    """Write the lab's answers as differences where they are nearly the solution; return how many, and of how many."""
    cells = [cell for cell in read_source(folder).cells if cell.solution and cell.cell_type == "code"]
    files: dict[str, list[str]] = defaultdict(list)
    variants = find_variants(folder, "wrong")
    done: list[Path] = []
    for variant in variants:
        written = None if variant.entry else as_difference(variant, cells)
        if written is not None:
            files[written.task].append(as_toml(variant, written))
            done.append(variant.path)
    for task, entries in files.items():
        path = folder / "wrong" / f"{task}.toml"
        old = [path.read_text(encoding="utf-8")] if path.exists() else []
        path.write_text("\n".join([*old, *entries]), encoding="utf-8")
    for answer in done:
        answer.unlink()
    return len(done), len(variants)


if __name__ == "__main__":
    for lab in sys.argv[1:]:
        print(lab, "{} of {} answers are differences now".format(*rewrite(SOLUTIONS / lab)))
