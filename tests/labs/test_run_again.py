"""A check that is run again, later, leaves alone what the notebook's other cells have made since."""

from __future__ import annotations

import symtable
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from autograder.boundary.parsing import without_magics
from autograder.release.build import find_labs
from autograder.release.source import SourceCell, read_source

LABS = find_labs(Path(__file__).parents[2] / "solutions")


class _Names(NamedTuple):
    """Names of the notebook in a cell: those that it makes, which of them are imports, and those that it reads."""

    made: set[str]
    imported: set[str]
    read: dict[str, set[str]]
    """By the function or class that reads them; those that the cell reads itself are under an empty name."""

    def reads(self, name: str) -> set[str]:
        """Return which functions and classes of the cell read a name, "" for the cell itself."""
        return {own for own, read in self.read.items() if name in read}


def names_of(source: str) -> _Names:
    """Return the names of the notebook in a cell; what is local to its functions is none."""
    table = symtable.symtable(without_magics(source), "cell", "exec")
    own = table.get_symbols()
    read = {"": {symbol.get_name() for symbol in own if symbol.is_referenced()}}
    for child in table.get_children():
        name = child.get_name() if child.get_name() in table.get_identifiers() else ""  # a lambda, a comprehension
        read.setdefault(name, set()).update(_read_in(child))
    made = {symbol.get_name() for symbol in own if symbol.is_assigned() or symbol.is_imported()}
    return _Names(made, {symbol.get_name() for symbol in own if symbol.is_imported()}, read)


def _read_in(scope: symtable.SymbolTable) -> Iterator[str]:
    yield from (symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced())
    for child in scope.get_children():
        yield from _read_in(child)


def written_over(cells: Sequence[SourceCell]) -> list[str]:
    """Return the names that a check makes, and one cell makes for a later one: run again between them, it spoils it."""
    known = [(cell, names_of(cell.source)) for cell in cells if cell.cell_type == "code"]
    others = [names for cell, names in known if not cell.test]
    found = []
    for check, own in ((cell, names) for cell, names in known if cell.test):
        made = {name for name in own.made - own.imported if any(name in names.made for names in others)}
        found += [f"{check.grade_id}: {name}" for name in sorted(made) if _needed_later(name, others)]
    return found


def _needed_later(name: str, cells: Sequence[_Names]) -> bool:
    """Return whether a cell reads what an earlier one has made, itself or by a function of an earlier one."""
    first = next(at for at, names in enumerate(cells) if name in names.made)
    for at, names in enumerate(cells):
        readers = names.reads(name)
        if at > first and readers and name not in names.made:
            return True
        if any(later.reads(reader) for reader in readers - {""} for later in cells[at + 1 :]):
            return True
    return False


@pytest.mark.parametrize("lab", LABS, ids=[lab.name for lab in LABS])
def test_a_check_makes_no_name_that_a_cell_makes_for_a_later_one(lab: Path) -> None:
    assert written_over(read_source(lab).cells) == []


def test_such_a_name_is_seen() -> None:
    sources = {
        "": "table, seen = [1, 2], 0\ndef first(): return table[0]",
        "explore": "print(first(), [seen for seen in (0,)])",
        "own-check": "from labkit import check\ntable, seen, own = 3, 4, 5\ndef inside(): own = table",
        "ends": "own = 5\nprint(own)",
    }
    cells: list[Any] = [
        SimpleNamespace(source=source, cell_type="code", test=name.endswith("-check"), grade_id=name)
        for name, source in sources.items()
    ]
    assert written_over(cells) == ["own-check: table"], "a later cell calls the function, which reads it then"
    cells[1].source = "print([seen for seen in (0,)])"
    assert written_over(cells) == []
    cells.append(SimpleNamespace(source="print(seen)", cell_type="code", test=False, grade_id=""))
    assert written_over(cells) == ["own-check: seen"]
