"""The stamp of a released notebook: what tells whether a file is still what `autograder release` wrote."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["checksum", "is_as_released", "released_files", "stamp", "stamp_of"]


def stamp(notebook: dict[str, Any], files: Mapping[str, bytes]) -> None:
    """Write into a notebook's metadata a checksum of all else in it, and one of each file that belongs beside it."""
    about = notebook["metadata"].setdefault("labkit", {})
    about["release"] = {"files": {name: checksum(content) for name, content in files.items()}}
    about["release"]["digest"] = _digest(notebook)


def is_as_released(content: bytes) -> bool:
    """Whether these are the bytes of a notebook that nobody has changed since: not its text, outputs or metadata."""
    notebook = _read(content)
    claimed = _release(notebook).get("digest")
    return bool(claimed) and claimed == _digest(notebook)


def stamp_of(content: bytes) -> str:
    """Return the checksum that a notebook's stamp holds, which names a release; empty if there is none."""
    return str(_release(_read(content)).get("digest", ""))


def released_files(content: bytes) -> dict[str, str]:
    """Return the checksums of the files that were released beside a notebook, by name."""
    files = _release(_read(content)).get("files", {})
    return dict(files) if isinstance(files, dict) else {}


def checksum(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def _read(content: bytes) -> dict[str, Any]:
    """Return the notebook in a file that anybody may have written; an empty one if it is none."""
    try:
        found = json.loads(content)
        good = isinstance(found["metadata"], dict) and all(isinstance(cell, dict) for cell in found["cells"])
    except (ValueError, TypeError, KeyError, RecursionError):
        good = False
    return found if good else {"metadata": {}, "cells": []}


def _release(notebook: Mapping[str, Any]) -> dict[str, Any]:
    about = notebook["metadata"].get("labkit", {})
    found = about.get("release", {}) if isinstance(about, dict) else {}
    return found if isinstance(found, dict) else {}


def _digest(notebook: Mapping[str, Any]) -> str:
    # A file has the lines of a cell in a list, nbformat one text: both count as the same.
    bare = copy.deepcopy(dict(notebook))
    bare["metadata"]["labkit"]["release"].pop("digest", None)
    for cell in bare["cells"]:
        cell["source"] = "".join(cell.get("source", ""))
    return checksum(json.dumps(bare, sort_keys=True).encode())
