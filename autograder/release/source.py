"""Reads a lab's source, NN_name.py in jupytext's percent format, into cells and refuses what breaks the rules."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import jupytext

from autograder.boundary.parsing import syntax_tree
from autograder.errors import SourceError, counted
from autograder.markers import BEGIN_HIDDEN, BEGIN_SOLUTION, END_HIDDEN, END_SOLUTION, clear
from autograder.model import Lab

__all__ = ["MARKER", "Block", "LabSource", "SourceCell", "read_source"]

MARKER = re.compile(
    r"#\s*(?:(?:BEGIN|END)\b|(?i:(?:BEGIN|END)[ _]*(?:SOLUTION|HIDDEN|TEST)))"
    r"|(?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS|MARK SCHEME)"
)
"""What nbgrader takes for a marker, anywhere in a line, and what only looks like one: that it would publish."""

_MISSPELLED = re.compile(r"###\s*(BEGIN|END)\b", re.IGNORECASE)  # in code only: a heading may well say End
_MARKERS = {
    BEGIN_SOLUTION: ("solution", True),
    END_SOLUTION: ("solution", False),
    BEGIN_HIDDEN: ("hidden", True),
    END_HIDDEN: ("hidden", False),
}
_CELL = re.compile(r"# %%( |$)")
_LIKE_A_CELL = re.compile(r"\s*#\s*(%%|<codecell>|In\[[0-9 ]*\]:?\s*$)")
_HEADER = re.compile(r"# ---\n(?:#.*\n)*?# ---\n")
_KINDS: dict[str, tuple[type, ...]] = {
    "grade_id": (str,),
    "grade": (bool,),
    "solution": (bool,),
    "locked": (bool,),
    "points": (int, float),
}


@dataclass(frozen=True)
class Block:
    """A marked region of a cell; begin and end are the 0-based lines of its two markers."""

    kind: str
    begin: int
    end: int


@dataclass(frozen=True)
class SourceCell:
    """One cell as the instructor wrote it; line is that of its `# %%` in the file, its own lines follow."""

    cell_type: str
    source: str
    line: int
    grade_id: str = ""
    grade: bool = False
    solution: bool = False
    locked: bool = False
    points: float = 0.0
    explore: bool = False
    folded: bool = False
    blocks: tuple[Block, ...] = ()

    @property
    def test(self) -> bool:
        return self.grade and not self.solution

    @property
    def lines(self) -> list[str]:
        return self.source.split("\n")

    def removed(self) -> Iterator[str]:
        """Yield the lines that students must not see."""
        for block in self.blocks:
            yield from self.lines[block.begin + 1 : block.end]


@dataclass(frozen=True)
class LabSource:
    """A lab as its instructor wrote it."""

    path: Path
    lab: Lab
    cells: tuple[SourceCell, ...] = field(repr=False)

    def where(self, cell: SourceCell, line: int = 0) -> str:
        """Return file:line (grade_id) of the cell's marker, or of one of its lines, counted from 1."""
        return _where(self.path, cell.line + line, cell.grade_id)


def read_source(folder: Path) -> LabSource:
    """Return the lab in this folder; raise SourceError with file, line and cell for the first broken rule."""
    lab = Lab.read(folder)
    path = folder / f"{folder.name}.py"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {error}", hint="the source is named after its folder") from error
    cells = tuple(_cell(path, node, line) for node, line in _nodes(path, text))
    source = LabSource(path, lab, cells)
    _check_whole(source)
    return source


def _where(path: Path, line: int, grade_id: object = "") -> str:
    return f"{path}:{line}" + (f" ({grade_id})" if grade_id else "")


def _nodes(path: Path, text: str) -> list[tuple[Any, int]]:
    """Return jupytext's cells, each with the line of its marker."""
    lines = text.split("\n")
    for number, words in enumerate(lines, 1):
        if _LIKE_A_CELL.match(words) and not _CELL.match(words):
            raise SourceError(f"{path}:{number}: not a cell marker: {words.strip()!r}", hint="write `# %%`")
    starts = [number for number, line in enumerate(lines, 1) if _CELL.match(line)]
    header = _HEADER.match(text)
    before = text[header.end() if header else 0 :].split("# %%", 1)[0]
    if before.strip() or not starts:
        raise SourceError(f"{path}:1: text before the first `# %%`", hint="begin the file with `# %% [markdown]`")
    try:
        cells = jupytext.reads(text, fmt="py:percent").cells
    except Exception as error:  # nbformat's and yaml's, for a header that is none
        raise SourceError(f"{path}:1: jupytext cannot read it: {str(error).splitlines()[0]}") from error
    for cell, line, after in zip(cells, starts, [*starts[1:], len(lines) + 1], strict=False):
        if cell.source and cell.source.count("\n") + 1 > after - line - 1:
            raise SourceError(f"{path}:{after}: `# %%` inside a string or a fenced block", hint="write it otherwise")
    return list(zip(cells, starts, strict=True))


def _cell(path: Path, node: Any, line: int) -> SourceCell:
    options: dict[str, Any] = {k: v for k, v in node.metadata.items() if k != "lines_to_next_cell"}  # jupytext's own
    nbgrader = options.pop("nbgrader", {})
    looks = {name: options.pop(name, False) for name in ("explore", "folded")}
    where = _where(path, line, nbgrader.get("grade_id") if isinstance(nbgrader, dict) else "")
    for key, value in options.items():
        raise SourceError(f"{where}: unknown cell option {key!r}: {value!r}", hint="known: nbgrader, explore, folded")
    if node.cell_type == "raw":
        raise SourceError(f"{where}: a raw cell", hint="a lab has code and `[markdown]` cells")
    if not isinstance(nbgrader, dict) or not all(isinstance(value, bool) for value in looks.values()):
        raise SourceError(
            f"{where}: not an option", hint='nbgrader={"grade_id": "name", ...}, explore=true or folded=true'
        )
    for key, value in nbgrader.items():
        if type(value) not in _KINDS.get(key, ()):
            raise SourceError(f"{where}: nbgrader knows no {key!r}: {value!r}", hint=f"known: {', '.join(_KINDS)}")
    cell = SourceCell(node.cell_type, node.source, line, **looks, **nbgrader)
    cell = replace(cell, blocks=_blocks(path, cell))
    _check_cell(path, cell)
    return cell


def _blocks(path: Path, cell: SourceCell) -> tuple[Block, ...]:
    blocks: list[Block] = []
    open_kind, begin = "", 0

    def refuse(line: int, problem: str, hint: str) -> NoReturn:
        raise SourceError(f"{_where(path, cell.line + line + 1, cell.grade_id)}: {problem}", hint=hint)

    for number, line in enumerate(cell.lines):
        if not MARKER.search(line) and not (cell.cell_type == "code" and _MISSPELLED.search(line)):
            continue
        kind, opens = _MARKERS.get(line.strip(), ("", False))
        words = line.strip().removeprefix("### ")
        if not kind:
            refuse(number, f"unknown marker {line.strip()!r}", f"write exactly one of: {', '.join(_MARKERS)}")
        if opens and open_kind:
            refuse(number, f"{words} inside another block", f"close the block of line {cell.line + begin + 1} first")
        if not opens and open_kind != kind:
            refuse(number, f"{words} without BEGIN", "delete the marker, or open the block above it")
        if opens:
            open_kind, begin = kind, number
        else:
            blocks.append(Block(kind, begin, number))
            open_kind = ""
    if open_kind:
        refuse(begin, f"a {open_kind} block is never closed", "add its END marker")
    return tuple(blocks)


def _check_cell(path: Path, cell: SourceCell) -> None:
    kinds = {block.kind for block in cell.blocks}
    graded = cell.grade or cell.solution or cell.locked

    def refuse(problem: str, hint: str, line: int = 0) -> NoReturn:
        raise SourceError(f"{_where(path, cell.line + line, cell.grade_id)}: {problem}", hint=hint)

    if graded and not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", cell.grade_id):
        refuse(f"grade_id {cell.grade_id!r} is not usable", "lower-case letters, digits and hyphens, at most 64")
    if cell.grade_id and not graded:
        refuse("a grade_id without grade, solution or locked", 'add "solution": true, "grade": true or "locked": true')
    if cell.grade != (cell.points > 0) or not math.isclose(cell.points, round(cell.points, 2)):
        refuse("points belong to grade cells, positive and to two decimals", 'write "grade": true, "points": 2')
    if ("solution" in kinds) != cell.solution:
        refuse("a solution cell and a SOLUTION block go together", "mark the cell, or move the block")
    if "hidden" in kinds and not cell.test:
        refuse("hidden tests outside a test cell", "students would receive this cell as it is")
    if cell.cell_type == "markdown" and graded and not (cell.grade and cell.solution):
        refuse("a graded markdown cell is both grade and solution", "nbgrader knows no other kind")
    if cell.cell_type == "code" and cell.solution and (cell.grade or cell.locked):
        refuse("a code cell is a solution, a test or locked", "split it in two")
    if cell.explore and (graded or cell.cell_type != "code"):
        refuse("explore is for plain code cells", "delete one of the two options")
    if cell.folded and not (cell.locked and cell.cell_type == "code"):
        refuse("folded is for locked code cells", "students have to see what they read or write")
    if cell.cell_type == "code":
        try:
            syntax_tree(cell.source)
        except SyntaxError as error:
            refuse(error.msg, "a lab's source is Python without magics", error.lineno or 0)
        clear(cell.source, "", lambda line: _where(path, cell.line + line, cell.grade_id))


def _check_whole(source: LabSource) -> None:
    seen: dict[str, SourceCell] = {}
    for cell in source.cells:
        if cell.grade_id in seen:
            raise SourceError(
                f"{source.where(cell)}: grade_id used twice", hint=f"first at line {seen[cell.grade_id].line}"
            )
        if cell.grade_id:
            seen[cell.grade_id] = cell
    total = sum(cell.points for cell in source.cells)
    if not math.isclose(total, source.lab.points):
        raise SourceError(
            f"{source.path}: the cells add up to {counted(total, 'point')}, lab.toml says {source.lab.points:g}",
            hint="change one of the two",
        )
