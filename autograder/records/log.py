"""The log of a lab: one JSON line a result, appended, chained by hashes and never changed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from io import RawIOBase
from pathlib import Path
from typing import Any

from autograder.model import Result, Status

__all__ = ["Basis", "Entry", "Log"]

_NOTHING_STORED = {Status.MISSING, Status.FAILED}


@dataclass(frozen=True)
class Basis:
    """What the gradebook said when a result was graded, and what its points and its penalty were derived from.

    Attributes:
        tests: a hash of each cell of the lab as it was then, by notebook/grade_id.
        handed_in, due: times as the gradebook writes them; empty if it knows none.
        extension_s: by how many seconds this student's due date was put off.
        content: a hash of what was handed in; empty in a line of an older version.
    """

    tests: Mapping[str, str] = field(default_factory=dict)
    handed_in: str = ""
    due: str = ""
    extension_s: float = 0.0
    content: str = ""

    @classmethod
    def read(cls, data: Any) -> Basis | None:
        """Return what a line of a log says; None if it says nothing of the kind."""
        try:
            return cls(**{**data, "tests": dict(data["tests"]), "extension_s": float(data["extension_s"])})
        except (KeyError, TypeError, ValueError):
            return None


@dataclass(frozen=True)
class Entry:
    """One line of a log."""

    number: int
    """Of the line in the file, from 1."""
    result: Result | None
    """None if the line cannot be read: what a killed run left behind, or damage."""
    hash: str = ""
    """Of the line itself; empty in a line of an older version, and in one that cannot be read."""
    previous: str = ""
    """Hash of the line before."""
    expected: str = ""
    """What `previous` must be in the first line of a chain; empty in all others."""
    intact: bool = True
    """Whether the line is what its hash says."""
    basis: Basis | None = None
    """None in a line of an older version, and in one of a submission that was not run."""


class Log:
    """The results of one lab, in the order in which they were graded, each line chained to the one before by its hash.

    A line ends in the SHA-256 of everything that stands before it in that line, the hash of the line before included.
    The first line of a chain carries the hash of all bytes above it, which an older version wrote without a chain, or
    zeros if there are none. What a killed run left half-written is in no chain: the next line refers past it. One
    process writes, and only ever adds; others may read at the same time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._end = (0, "")
        """How long the file was after our own last line, and that line's hash."""

    def append(self, result: Result, basis: Basis | None = None) -> None:
        """Add a result and make sure that it is on the disk before returning."""
        with self.path.open("a+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.tell() and not _ends_with_newline(file):
                file.write(b"\n")  # a killed run left half a line: keep it apart from ours
            size = file.seek(0, os.SEEK_END)
            if self._end[0] != size or not size:
                file.seek(0)
                self._end = (size, _last_hash(file.read()))
            line, own = _sealed(result, basis, self._end[1])
            try:
                _write(file, line)
                os.fsync(file.fileno())
            except OSError:  # a full disk: half a line would be taken for that of a run that was killed
                file.truncate(size)
                raise
            self._end = (size + len(line), own)

    def latest(self) -> dict[str, Result]:
        """Return each student's last result; a line that is half-written or not what its hash says counts as none."""
        return {student: entry.result for student, entry in self.last_lines().items() if entry.result is not None}

    @property
    def damaged(self) -> bool:
        """Whether a line cannot be read, or is not what its hash says."""
        return any(entry.result is None or not entry.intact for entry in self.entries())

    def last_lines(self) -> dict[str, Entry]:
        """Return the line of each student's last result, what it was derived from included."""
        return {e.result.student: e for e in self.entries() if e.result is not None and e.intact}

    def graded(self) -> dict[str, Entry]:
        """Return the line of each student's last result that went into the gradebook."""
        whole = [(e.result, e) for e in self.entries() if e.result is not None and e.intact]
        return {result.student: entry for result, entry in whole if result.status not in _NOTHING_STORED}

    def entries(self) -> list[Entry]:
        """Return all lines but empty ones."""
        content = self.path.read_bytes() if self.path.exists() else b""
        found: list[Entry] = []
        offset = 0
        for number, line in enumerate(content.split(b"\n"), 1):
            if line.strip():
                entry = _entry(number, line)
                if entry.hash and not any(e.hash for e in found):
                    entry = replace(entry, expected=_origin(content[:offset]))
                found.append(entry)
            offset += len(line) + 1
        return found

    @property
    def head(self) -> str:
        """The hash of the last line; noted elsewhere, it shows later whether lines were cut off or all rewritten."""
        return next((entry.hash for entry in reversed(self.entries()) if entry.hash), "")


_SEAL = re.compile(rb'(\{.*), "hash": "([0-9a-f]{64})"\}', re.DOTALL)


def _sealed(result: Result, basis: Basis | None, previous: str) -> tuple[bytes, str]:
    """Return the line for a result, and its hash."""
    graded_from = {} if basis is None else {"basis": asdict(basis)}
    text = json.dumps({**result.to_dict(), **graded_from, "previous": previous}, sort_keys=True)
    own = hashlib.sha256(text.encode()).hexdigest()
    return f'{text[:-1]}, "hash": "{own}"}}\n'.encode(), own


def _entry(number: int, line: bytes) -> Entry:
    try:
        data = json.loads(line)
        previous, own = str(data.pop("previous", "")), str(data.pop("hash", ""))
        basis = Basis.read(data.pop("basis", None))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return Entry(number, None, intact=False)
    seal = _SEAL.fullmatch(line)
    fits = seal is not None and hashlib.sha256(seal[1] + b"}").hexdigest() == own == seal[2].decode()
    try:
        result = Result.from_dict(data)
    except (ValueError, KeyError, TypeError, AttributeError):
        result = None
    return Entry(number, result, hash=own, previous=previous, intact=fits or not (own or previous), basis=basis)


def _last_hash(content: bytes) -> str:
    """Return what the next line refers to: the last line with a hash, or all there is if there is none."""
    for line in reversed(content.split(b"\n")):
        if seal := _SEAL.fullmatch(line):
            return seal[2].decode()
    return _origin(content)


def _origin(before: bytes) -> str:
    return hashlib.sha256(before).hexdigest() if before else "0" * 64


def _write(file: RawIOBase, line: bytes) -> None:
    while line:  # a disk that is nearly full takes a part of it, and refuses the rest
        line = line[file.write(line) or 0 :]


def _ends_with_newline(file: RawIOBase) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
