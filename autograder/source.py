"""Reads a lab's source, NN_name.py in jupytext's percent format, into cells and refuses what breaks the rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext

from autograder.errors import SourceError
from autograder.model import Lab
from autograder.stub import BEGIN_HIDDEN, BEGIN_SOLUTION, END_HIDDEN, END_SOLUTION

__all__ = ["Block", "LabSource", "SourceCell", "read_source"]

_MARKERS = {
    BEGIN_SOLUTION: ("solution", True),
    END_SOLUTION: ("solution", False),
    BEGIN_HIDDEN: ("hidden", True),
    END_HIDDEN: ("hidden", False),
}
_MARKER = re.compile(r"^\s*#+\s*(BEGIN|END)\b", re.IGNORECASE)
_NBGRADER_KEYS = {"grade_id", "grade", "solution", "locked", "points"}


@dataclass(frozen=True)
class Block:
    """A marked region of a cell; begin and end are the 0-based lines of its two markers."""

    kind: str
    begin: int
    end: int


@dataclass(frozen=True)
class SourceCell:
    """One cell as the instructor wrote it; line is where it starts in the file."""

    cell_type: str
    source: str
    line: int
    grade_id: str = ""
    grade: bool = False
    solution: bool = False
    locked: bool = False
    points: float = 0.0
    explore: bool = False
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

    def where(self, cell: SourceCell, offset: int = 0) -> str:
        name = f" ({cell.grade_id})" if cell.grade_id else ""
        return f"{self.path}:{cell.line + offset + 1}{name}"


def read_source(folder: Path) -> LabSource:
    """Return the lab in this folder; raise SourceError with file, line and cell for the first broken rule."""
    lab = Lab.read(folder)
    path = folder / f"{folder.name}.py"
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {error}", hint="the source is named after its folder") from error
    notebook = jupytext.reads(text, fmt="py:percent")
    starts = [number for number, line in enumerate(text.split("\n"), 1) if re.match(r"# %%( |$)", line)]
    if len(starts) != len(notebook.cells):
        raise SourceError(f"{path}:1: text before the first `# %%`", hint="begin the file with `# %% [markdown]`")
    cells = tuple(_cell(path, node, line) for node, line in zip(notebook.cells, starts, strict=True))
    source = LabSource(path, lab, cells)
    _check_whole(source)
    return source


def _cell(path: Path, node: Any, line: int) -> SourceCell:
    metadata = {key: value for key, value in node.metadata.items() if key != "lines_to_next_cell"}  # jupytext's own
    nbgrader, explore = metadata.pop("nbgrader", {}), metadata.pop("explore", False)
    where = f"{path}:{line}" + (f" ({nbgrader['grade_id']})" if "grade_id" in nbgrader else "")
    if metadata:
        raise SourceError(f"{where}: unknown cell option {next(iter(metadata))!r}", hint="known: nbgrader, explore")
    if unknown := set(nbgrader) - _NBGRADER_KEYS:
        raise SourceError(f"{where}: unknown nbgrader key {sorted(unknown)[0]!r}")
    cell = SourceCell(
        node.cell_type, node.source, line, explore=explore, blocks=_blocks(where, node.source), **nbgrader
    )
    _check_cell(where, cell)
    return cell


def _blocks(where: str, source: str) -> tuple[Block, ...]:
    blocks: list[Block] = []
    open_kind, begin = "", 0
    for number, line in enumerate(source.split("\n")):
        if not _MARKER.match(line):
            continue
        here = f"{where}, line {number + 1} of the cell"
        kind, opens = _MARKERS.get(line.strip(), ("", False))
        if not kind:
            known = ", ".join(_MARKERS)
            raise SourceError(f"{here}: unknown marker {line.strip()!r}", hint=f"write exactly one of: {known}")
        words = line.strip().removeprefix("### ")
        if opens and open_kind:
            raise SourceError(
                f"{here}: {words} inside another block", hint=f"close the block opened {number - begin} lines above"
            )
        if not opens and open_kind != kind:
            raise SourceError(
                f"{here}: {words} without BEGIN",
                hint=f"delete the marker, or open the block above line {number + 1} of the cell",
            )
        if opens:
            open_kind, begin = kind, number
        else:
            blocks.append(Block(kind, begin, number))
            open_kind = ""
    if open_kind:
        raise SourceError(f"{where}: a {open_kind} block is never closed", hint="add its END marker")
    return tuple(blocks)


def _check_cell(where: str, cell: SourceCell) -> None:
    kinds = {block.kind for block in cell.blocks}
    graded = cell.grade or cell.solution or cell.locked

    def refuse(problem: str, hint: str = "") -> None:
        raise SourceError(f"{where}: {problem}", hint=hint)

    if graded and not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", cell.grade_id):
        refuse(f"grade_id {cell.grade_id!r} is not usable", "lower-case letters, digits and hyphens")
    if cell.grade_id and not graded:
        refuse("a grade_id without grade, solution or locked", 'add "solution": true, "grade": true or "locked": true')
    if cell.grade != (cell.points > 0):
        refuse("points belong to grade cells, and every grade cell has some", 'write "grade": true, "points": 2')
    if ("solution" in kinds) != cell.solution:
        refuse("a solution cell and a SOLUTION block go together", "mark the cell, or move the block")
    if "hidden" in kinds and not cell.test:
        refuse("hidden tests outside a test cell", "students would receive this cell as it is")
    if cell.cell_type == "markdown" and graded and not (cell.grade and cell.solution):
        refuse("a graded markdown cell is both grade and solution", "nbgrader knows no other kind")
    if cell.cell_type == "code" and cell.grade and cell.solution:
        refuse("a code cell is either a solution or a test", "split it in two")
    if cell.explore and (graded or cell.cell_type != "code"):
        refuse("explore is for plain code cells")
    if cell.cell_type == "code":
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            refuse(f"line {error.lineno} of the cell: {error.msg}", "magics do not belong in a lab's source")


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
    if total != source.lab.points:
        raise SourceError(
            f"{source.path}: the cells add up to {total:g} points, lab.toml says {source.lab.points:g}",
            hint="change one of the two",
        )
