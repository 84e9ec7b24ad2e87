"""A student's notebook brought up to a newer release: the answers, the student's own cells and their order stay."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["merge"]

Cell = dict[str, Any]
_SHOWN_LINES = 16
"""How much of what changed in one cell is shown."""


def merge(mine: Mapping[str, Any], old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> tuple[Cell, list[str]]:
    """Return the notebook `mine`, which began as `old`, on the release `new`; and what changed, in lines to be read.

    Cells are the same if they have one grade_id, or else one id. Without `old` nobody can tell what is the student's:
    then all stays but what the release locks.
    """
    work = _Merge(_by_key(old["cells"]) if old else None, _by_key(new["cells"]))
    cells = work.cells(mine["cells"])
    metadata = {**mine["metadata"], "labkit": new["metadata"].get("labkit", {})}
    minor = max(mine.get("nbformat_minor", 0), new.get("nbformat_minor", 0))
    return {**mine, "metadata": metadata, "nbformat_minor": minor, "cells": cells}, work.notes


@dataclass
class _Merge:
    old: dict[str, Cell] | None
    new: dict[str, Cell]
    notes: list[str] = field(default_factory=list)

    def cells(self, mine: Sequence[Cell]) -> list[Cell]:
        old = self.old or {}
        theirs = {_key(cell) for cell in mine}
        follows = {before: after for after, before in _replaced(old, self.new).items() if after not in theirs}
        result: list[tuple[str, Cell]] = []
        seen: set[str] = set()
        for cell in mine:
            key = _key(cell)
            if not key or key in seen:
                result.append(("", cell))  # a copy of a cell is the student's own
            elif key in self.new:
                result.append((key, self._same_cell(key, cell, old.get(key), self.new[key])))
            else:
                result += self._cell_that_is_gone(key, cell, old.get(key), follows.get(key, ""))
            seen.add(key)
        self._add_missing(result, old)
        return [cell for _, cell in result]

    def _same_cell(self, key: str, mine: Cell, old: Cell | None, new: Cell) -> Cell:
        """Return the cell as it is from now on: whose text it has depends on whose it is to change."""
        changed = old is not None and _text(old) != _text(new)
        if _is_locked(new) or (old is not None and _text(mine) == _text(old)):
            if changed:
                self._say("changed", key, old, new)
            elif old is not None and _text(mine) != _text(new):
                self.notes.append(f"as released again: {_name(key, new)}")
            return _with_outputs(new, mine)
        if changed and _text(mine) != _text(new):
            self._say("yours stays", key, old, new)
        return {**mine, "metadata": {**_own_metadata(mine), **new["metadata"]}}

    def _cell_that_is_gone(self, key: str, mine: Cell, old: Cell | None, after: str) -> Iterator[tuple[str, Cell]]:
        """Yield what stands where the student has a cell that the release does not have: any more, or at all."""
        if _is_locked(mine) or (old is not None and _text(mine) == _text(old)):
            if after:
                self._say("changed", after, old, self.new[after])
            else:
                self.notes.append(f"gone: {_name(key, mine)}")
        else:
            if _of_nbgrader(mine) or old is not None:
                self.notes.append(f"yours stays: {_name(key, mine)}, which the release no longer has")
            yield "", {**mine, "metadata": _own_metadata(mine)}
        if after:
            yield after, self.new[after]

    def _add_missing(self, result: list[tuple[str, Cell]], old: Mapping[str, Cell]) -> None:
        """Insert what the student does not have, each cell after the one that it follows in the release."""
        place = 0
        for key, cell in self.new.items():
            at = next((number for number, (name, _) in enumerate(result) if name == key), None)
            if at is not None:
                place = at + 1
            elif key not in old or _of_nbgrader(cell):  # any other that was there the student has deleted
                self.notes.append(f"{'put back' if key in old else 'new'}: {_name(key, cell)}")
                result.insert(place, (key, cell))
                place += 1

    def _say(self, what: str, key: str, old: Cell | None, new: Cell) -> None:
        lines = list(difflib.unified_diff(_text(old or {}).splitlines(), _text(new).splitlines(), n=0, lineterm=""))
        lines = [line for line in lines[2:] if not line.startswith("@@")]
        more = len(lines) - _SHOWN_LINES
        self.notes.append(f"{what}: {_name(key, new)}{'; what changed in the release:' if what != 'changed' else ''}")
        self.notes += [f"  {line}" for line in lines[:_SHOWN_LINES]]
        if more > 0:
            self.notes.append(f"  and {more} more line{'s' * (more != 1)}")


def _replaced(old: Mapping[str, Cell], new: Mapping[str, Cell]) -> dict[str, str]:
    """Return for each new cell the old one whose place it takes: prose has another id when its text is another."""
    before, after = list(old), list(new)
    pairs: dict[str, str] = {}
    for kind, from_old, to_old, from_new, to_new in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if kind == "replace":
            pairs |= dict(zip(after[from_new:to_new], before[from_old:to_old], strict=False))
    return {one: other for one, other in pairs.items() if new[one]["cell_type"] == old[other]["cell_type"]}


def _by_key(cells: Sequence[Cell]) -> dict[str, Cell]:
    return {key: cell for cell in cells if (key := _key(cell))}


def _key(cell: Cell) -> str:
    return str(_of_nbgrader(cell).get("grade_id") or cell.get("id", ""))


def _name(key: str, cell: Cell) -> str:
    """Return what a reader knows a cell by: prose has only its first line."""
    if cell.get("cell_type") != "markdown" or _of_nbgrader(cell):
        return key
    first = next((line.strip("#* ") for line in _text(cell).splitlines() if line.strip("#* ")), key)
    return f'"{first[:60]}"'


def _of_nbgrader(cell: Cell) -> dict[str, Any]:
    found = cell.get("metadata", {}).get("nbgrader", {})
    return found if isinstance(found, dict) else {}


def _own_metadata(cell: Cell) -> dict[str, Any]:
    return {name: value for name, value in cell["metadata"].items() if name != "nbgrader"}


def _is_locked(cell: Cell) -> bool:
    of = _of_nbgrader(cell)
    return bool((of.get("grade") or of.get("locked")) and not of.get("solution"))


def _text(cell: Cell) -> str:
    return "".join(cell.get("source", ""))


def _with_outputs(new: Cell, mine: Cell) -> Cell:
    """Return the released cell, with what the student's showed if that is of the same text."""
    kept = {"outputs", "execution_count"} & mine.keys() & new.keys()
    return {**new, **{name: mine[name] for name in kept}} if _text(new) == _text(mine) else new
