"""Checks a log's chain of hashes: which lines were edited, removed, moved, inserted or cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.records.log import Entry

__all__ = ["check_chain"]


def check_chain(entries: Sequence[Entry], head: str = "") -> tuple[list[str], list[str]]:
    """Return where lines were edited, removed, moved, inserted or cut off, and what else is worth knowing.

    Lines cut off at the end, and a log rewritten as a whole, are found with a `head` only that was noted before.
    """
    problems: list[str] = []
    notes: list[str] = []
    lines = {entry.hash: entry.number for entry in entries if entry.hash}
    last: Entry | None = None
    for entry in entries:
        where = f"line {entry.number}"
        if entry.hash:
            if not entry.intact:
                problems.append(f"{where}{_whose(entry)}: was edited: it is not what its hash says")
            if problem := _broken_link(entry, last, lines):
                problems.append(f"{where}{_whose(entry)}: {problem}")
            last = entry
        elif entry.result is not None and last is not None:
            problems.append(f"{where}{_whose(entry)}: was inserted: it has no hash, and those before it have")
        elif entry.result is None:
            notes.append(f"{where}: cannot be read and counts as not there: a run that was killed leaves such a line")
    old = sum(not entry.hash and entry.result is not None for entry in entries)
    if old and last is None:
        many = f"{old} lines of an older version without hashes: they"
        notes.append(f"{'1 line of an older version without a hash: it' if old == 1 else many} cannot be checked")
    if head and not any(own.startswith(head) for own in lines):
        problems.append(f"no line has the hash {head}: since it was noted, lines were cut off, or all rewritten")
    return problems, notes


def _whose(entry: Entry) -> str:
    return f" ({entry.result.student})" if entry.result else ""


def _broken_link(entry: Entry, last: Entry | None, lines: Mapping[str, int]) -> str:
    """Say what is wrong between this line and the one before it."""
    if last is None:
        if entry.previous == entry.expected:
            return ""
        return "what stood above it is not there, or was changed"
    if entry.previous == last.hash:
        return ""
    if entry.previous in lines:
        return f"it was written after line {lines[entry.previous]}: lines were moved or inserted"
    return "the line that it was written after is not there: lines were removed"
