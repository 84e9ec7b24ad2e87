"""Our own record of what was graded: one JSON line a result, appended and never changed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from autograder.model import Limits, Result, SourceCellRow

__all__ = ["Log", "environment", "fingerprint"]


class Log:
    """The results of one lab, in the order in which they were graded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, result: Result) -> None:
        """Add a result and make sure that it is on the disk before returning."""
        line = json.dumps(result.to_dict(), sort_keys=True) + "\n"
        with self.path.open("a+b") as file:
            if file.tell() and not _ends_with_newline(file):
                file.write(b"\n")  # a killed run left half a line: keep it apart from ours
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def latest(self) -> dict[str, Result]:
        """Return each student's last result; a half-written line counts as not there."""
        results: dict[str, Result] = {}
        if not self.path.exists():
            return results
        for line in self.path.read_bytes().split(b"\n"):
            try:
                result = Result.from_dict(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            results[result.student] = result
        return results


def _ends_with_newline(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


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
    """Return Python's version, every installed distribution's, and a hash of labkit, which a course may edit."""
    found = {d.metadata["Name"].lower(): d.version for d in distributions() if d.metadata["Name"]}
    return {**dict(sorted(found.items())), "python": platform.python_version(), "labkit": _code("labkit")}


def _code(package: str) -> str:
    """Return the hash of a package's modules, which are read and not imported."""
    spec = find_spec(package)
    content = hashlib.sha256()
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).rglob("*.py")):
            content.update(path.read_bytes())
    return content.hexdigest()
