"""Mutants that break no promise of a lab's text: `equivalent.toml`, with the reason for each.

An entry names a task, a function and one or more changes, each the changed line before and after as `autograder prove`
prints them. So it outlives an edit anywhere else. One that no living mutant matches is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import SourceError
from autograder.proof.mutants import Mutant

__all__ = ["NAME", "Key", "as_toml", "check_living", "read_equivalent"]

NAME = "equivalent.toml"
_KEYS = {"task", "function", "changes", "reason"}
_LEAST_WORDS = 3
Key = tuple[str, str, str, str]
"""Task, function, and the changed line before and after."""


@dataclass(frozen=True)
class _Where:
    path: Path
    number: int
    table: Any

    def __str__(self) -> str:
        names = [str(self.table[name]) for name in ("task", "function") if name in self.table]
        return f"{self.path}: entry {self.number}" + (f" ({', '.join(names)})" if names else "")


def read_equivalent(path: Path) -> dict[Key, str]:
    """Return the reason for each change that is listed; nothing if there is no such file. Raises SourceError."""
    if not path.is_file():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: {error}") from error
    entries = table.pop("equivalent", [])
    if table or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SourceError(f"{path}: not a list of entries", hint="each begins with [[equivalent]]")
    found: dict[Key, str] = {}
    for number, entry in enumerate(entries, 1):
        where = _Where(path, number, entry)
        for key in _keys(where, entry):
            if key in found:
                raise SourceError(f"{where}: listed twice: {key[2]} -> {key[3]}", hint="delete one of the two")
            found[key] = entry["reason"]
    return found


def check_living(path: Path, listed: Iterable[Key], every: Iterable[Mutant], fates: Mapping[Key, str]) -> None:
    """Raise SourceError for the first entry that matches no mutant, or one that does not live.

    fates: of those that were tried.
    """
    keys = {mutant.key for mutant in every}
    for key in listed:
        where = f"{path}: {key[0]}, {key[1]}: {key[2]} -> {key[3]}"
        if key not in keys:
            raise SourceError(f"{where}: there is no such mutant", hint="the line has changed: delete it, or mend it")
        if fates.get(key, "lived") != "lived":
            why = "a check kills it" if fates[key] == "killed" else "it changes nothing that its function returns"
            raise SourceError(f"{where}: {why}", hint="delete it: nothing is to be excused")


def as_toml(mutants: Iterable[Mutant]) -> str:
    """Return entries to be completed, one a function, for mutants that live; without a reason they are an error."""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault((mutant.task, mutant.function), []).append(mutant)
    return "\n".join(line for (task, function), own in groups.items() for line in _entry(task, function, own))


def _entry(task: str, function: str, mutants: list[Mutant]) -> Iterator[str]:
    yield from ("[[equivalent]]", f"task = {_text(task)}", f"function = {_text(function)}", "changes = [")
    yield from (f"  [{_text(mutant.before)}, {_text(mutant.after)}]," for mutant in mutants)
    yield from ("]", 'reason = ""', "")


def _text(value: str) -> str:
    if "'" not in value and "\n" not in value:
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _keys(where: _Where, entry: dict[str, Any]) -> Iterator[Key]:
    for name in sorted(_KEYS - entry.keys()):
        raise SourceError(f"{where}: {name} is missing", hint=_HINTS[name])
    for name in sorted(entry.keys() - _KEYS):
        raise SourceError(f"{where}: unknown key {name!r}", hint=f"known: {', '.join(sorted(_KEYS))}")
    for name in ("task", "function", "reason"):
        if not isinstance(entry[name], str) or not entry[name].strip():
            raise SourceError(f"{where}: {name} is empty", hint=_HINTS[name])
    if len(entry["reason"].split()) < _LEAST_WORDS:
        raise SourceError(f"{where}: this is no reason: {entry['reason']!r}", hint=_HINTS["reason"])
    changes = entry["changes"]
    if not isinstance(changes, list) or not changes or not all(map(_is_change, changes)):
        raise SourceError(f"{where}: changes: not a list of pairs", hint=_HINTS["changes"])
    yield from ((entry["task"], entry["function"], before, after) for before, after in changes)


def _is_change(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(text, str) for text in value)


_HINTS = {
    "task": "the grade_id of the solution's cell",
    "function": "the name that the mutant is listed with, for example 'MLP.forward'",
    "changes": "write changes = [['the line before', 'the line after']]; autograder prove --toml prints them",
    "reason": "say why no promise of the task's text is broken",
}
