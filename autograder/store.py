"""Our own record of what was graded: one JSON line a result, appended, chained and never changed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from autograder.model import Limits, Result, SourceCellRow

__all__ = ["Entry", "Log", "environment", "fingerprint", "hashes"]


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

    def append(self, result: Result) -> None:
        """Add a result and make sure that it is on the disk before returning."""
        with self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.tell() and not _ends_with_newline(file):
                file.write(b"\n")  # a killed run left half a line: keep it apart from ours
                file.flush()
            size = file.seek(0, os.SEEK_END)
            if self._end[0] != size or not size:
                file.seek(0)
                self._end = (size, _last_hash(file.read()))
            line, own = _sealed(result, self._end[1])
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            self._end = (size + len(line), own)

    def latest(self) -> dict[str, Result]:
        """Return each student's last result; a line that is half-written or not what its hash says counts as none."""
        return {e.result.student: e.result for e in self.entries() if e.result is not None and e.intact}

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
        """The hash of the last line; noted elsewhere, it shows later whether lines were cut off or all written anew."""
        return next((entry.hash for entry in reversed(self.entries()) if entry.hash), "")


_SEAL = re.compile(rb'(\{.*), "hash": "([0-9a-f]{64})"\}', re.DOTALL)


def _sealed(result: Result, previous: str) -> tuple[bytes, str]:
    """Return the line for a result, and its hash."""
    text = json.dumps({**result.to_dict(), "previous": previous}, sort_keys=True)
    own = hashlib.sha256(text.encode()).hexdigest()
    return f'{text[:-1]}, "hash": "{own}"}}\n'.encode(), own


def _entry(number: int, line: bytes) -> Entry:
    try:
        data = json.loads(line)
        previous, own = str(data.pop("previous", "")), str(data.pop("hash", ""))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return Entry(number, None, intact=False)
    seal = _SEAL.fullmatch(line)
    fits = seal is not None and hashlib.sha256(seal[1] + b"}").hexdigest() == own == seal[2].decode()
    try:
        result = Result.from_dict(data)
    except (ValueError, KeyError, TypeError, AttributeError):
        result = None
    return Entry(number, result, hash=own, previous=previous, intact=fits or not (own or previous))


def _last_hash(content: bytes) -> str:
    """Return what the next line refers to: the last line with a hash, or all there is if there is none."""
    for line in reversed(content.split(b"\n")):
        if seal := _SEAL.fullmatch(line):
            return seal[2].decode()
    return _origin(content)


def _origin(before: bytes) -> str:
    return hashlib.sha256(before).hexdigest() if before else "0" * 64


def _ends_with_newline(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each of these notebooks that is in the folder, by its name without the ending."""
    paths = {name: folder / f"{name}.ipynb" for name in names}
    return {name: hashlib.sha256(p.read_bytes()).hexdigest() for name, p in paths.items() if p.is_file()}


def fingerprint(
    files: Iterable[tuple[str, bytes]], rows: Mapping[str, Sequence[SourceCellRow]], limits: Limits, sandbox: str
) -> str:
    """Return a hash of everything a grade depends on: the submission, the tests, the limits, the installed packages."""
    content = hashlib.sha256()
    for name, data in sorted(files):
        content.update(os.fsencode(name) + f"\0{len(data)}\0".encode() + data)
    tests = {name: [asdict(row) for row in cells] for name, cells in rows.items()}
    content.update(json.dumps([tests, asdict(limits), sandbox, environment()], sort_keys=True).encode())
    return content.hexdigest()


@cache
def environment() -> Mapping[str, str]:
    """Return Python's version, every installed distribution's, and hashes of our own code, which a course may edit."""
    found = {d.metadata["Name"].lower(): d.version for d in distributions() if d.metadata["Name"]}
    return {
        **dict(sorted(found.items())),
        "python": platform.python_version(),
        "labkit": _code("labkit"),
        "autograder": _code("autograder"),
    }


def _code(package: str) -> str:
    """Return the hash of a package's modules, which are read and not imported."""
    spec = find_spec(package)
    content = hashlib.sha256()
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).rglob("*.py")):
            content.update(path.read_bytes())
    return content.hexdigest()
