"""Hashes of what a grade depends on: the submission, the tests, the limits, the installed packages."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from autograder.model import CellSpec, Limits

__all__ = ["environment", "fingerprint", "hash_of_files", "hashes", "row_hashes"]


def hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each of these notebooks that is in the folder, by its name without the ending."""
    paths = {name: folder / f"{name}.ipynb" for name in names}
    return {name: hashlib.sha256(p.read_bytes()).hexdigest() for name, p in paths.items() if p.is_file()}


def hash_of_files(files: Iterable[tuple[str, bytes]]) -> str:
    """Return a hash of named pieces, in any order."""
    return _of_files(files).hexdigest()


def row_hashes(rows: Mapping[str, Sequence[CellSpec]]) -> dict[str, str]:
    """Return a hash of each cell that the gradebook knows, by notebook/grade_id: of its text and what kind it is.

    What it is worth stands in each result.
    """
    about = {f"{name}/{row.grade_id}": {**asdict(row), "points": None} for name, cells in rows.items() for row in cells}
    return {
        key: hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:32] for key, row in about.items()
    }


def fingerprint(
    files: Iterable[tuple[str, bytes]], rows: Mapping[str, Sequence[CellSpec]], limits: Limits, sandbox: str
) -> str:
    """Return a hash of everything a grade depends on: the submission, the tests, the limits, the installed packages."""
    content = _of_files(files)
    tests = {name: [asdict(row) for row in cells] for name, cells in rows.items()}
    content.update(json.dumps([tests, asdict(limits), sandbox, environment()], sort_keys=True).encode())
    return content.hexdigest()


def _of_files(files: Iterable[tuple[str, bytes]]) -> hashlib._Hash:
    content = hashlib.sha256()
    for name, data in sorted(files):
        content.update(os.fsencode(name) + f"\0{len(data)}\0".encode() + data)
    return content


@cache
def environment() -> Mapping[str, str]:
    """Return Python's version, every installed distribution's, and hashes of our own code, which a course may edit."""
    return {
        **dict(sorted(_installed().items())),
        "python": platform.python_version(),
        "labkit": _code("labkit"),
        "autograder": _code("autograder"),
    }


def _installed() -> dict[str, str]:
    """Return the versions of the distributions on the path, by name, as the names of their folders say them.

    importlib.metadata reads each one's description: a quarter of a second in this environment.
    """
    found: dict[str, str] = {}
    for place in reversed(sys.path):  # the first that is found counts
        for path in Path(place).glob("*.dist-info") if place else ():
            name, _, version = path.stem.partition("-")
            found[name.lower().replace("_", "-")] = version
    return found


def _code(package: str) -> str:
    """Return the hash of a package's modules, which are read and not imported."""
    spec = find_spec(package)
    content = hashlib.sha256()
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).rglob("*.py")):
            content.update(path.read_bytes())
    return content.hexdigest()
