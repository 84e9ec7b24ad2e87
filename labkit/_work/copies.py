"""The folder of a student's own copies, and the released labs that they are made of and brought up to date with."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal

from labkit._work.merge import merge
from labkit._work.stamp import checksum, is_as_released, released_files, stamp_of

__all__ = ["Copy", "WorkError", "bring_up_to_date"]

_KEPT = ".released"
"""The folder, among the copies, of the releases that they began as: against these it shows what is the student's.

LAB.ipynb is the last one, and each stands there under its stamp, too: who has had the notebook open meanwhile, and
saves it over the update, has an older one again.
"""

_NO_NOTEBOOK = "it cannot be read: save it with JupyterLab; if that cannot open it, rename it and run this again"


class WorkError(Exception):
    """The copies cannot be made at all; the text says why and what to do."""


@dataclass(frozen=True)
class Copy:
    """What became of one lab's copy. `as it was` needs a look: `notes` say why; of an update they say what changed."""

    lab: str
    path: Path
    what: Literal["new", "updated", "up to date", "as it was"]
    notes: Sequence[str] = field(default_factory=list)
    unread: bool = False
    """Whether it is no notebook, so that nothing could be done."""


def bring_up_to_date(labs: Path, work: Path, names: Sequence[str] = ()) -> Iterator[Copy]:
    """Copy each lab of `labs`, or those named, to `work`, or bring its copy up to date; yield what became of each.

    Nothing that is the student's is lost: not an answer, a cell or a file. Raises WorkError if there are no such labs.
    """
    there = [path.name for path in sorted(labs.glob("*/")) if (path / f"{path.name}.ipynb").is_file()]
    if not there:
        raise WorkError(f"{labs}: no labs here\nhint: run this in the course's folder, or name theirs: --labs DIR")
    for name in names:
        if name not in there:
            begun = [each for each in there if each.startswith(name)]
            meant = f"did you mean {begun[0]}? " if len(begun) == 1 else ""
            raise WorkError(f"{name}: no such lab in {labs}\nhint: {meant}there: {', '.join(there)}")
    for name in names or there:
        yield _Lab(name, labs / name, work / name, work / _KEPT / name).bring_up_to_date()


@dataclass(frozen=True)
class _Lab:
    name: str
    released: Path
    mine: Path
    kept: Path

    def bring_up_to_date(self) -> Copy:
        content = (self.released / self._file).read_bytes()
        pristine = is_as_released(content)
        if not self._copy.exists():
            self._make(content, pristine)
            note = [] if pristine else [f"{self.released / self._file} was not as released: it was copied as it is"]
            return self._became("new", note)
        if not pristine:
            return self._became("as it was", [f"{self.released / self._file} is not as released: see git status"])
        mine = self._copy.read_bytes()
        if not _is_notebook(mine):
            return replace(self._became("as it was", [_NO_NOTEBOOK, *self._last_readable()]), unread=True)
        if stamp_of(mine) == stamp_of(content):
            self._keep(content)
            restored = merge(json.loads(mine), json.loads(content), json.loads(content))[1]
            if not restored:
                return self._became("up to date", self._files(content, released_files(mine)))
        return self._became("updated", self._update(mine, content))

    @property
    def _file(self) -> str:
        return f"{self.name}.ipynb"

    @property
    def _copy(self) -> Path:
        return self.mine / self._file

    def _became(self, what: Literal["new", "updated", "up to date", "as it was"], notes: list[str]) -> Copy:
        return Copy(self.name, self._copy, what, notes)

    def _make(self, content: bytes, pristine: bool) -> None:
        self.mine.mkdir(parents=True, exist_ok=True)
        for path in sorted(self.released.rglob("*")):
            target = self.mine / path.relative_to(self.released)
            if path.is_file() and not target.exists() and ".ipynb_checkpoints" not in path.parts:
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(target, path.read_bytes())
        if pristine:
            self._keep(content)

    def _update(self, mine: bytes, content: bytes) -> list[str]:
        merged, notes = merge(json.loads(mine), self._base(stamp_of(mine)), json.loads(content))
        notes += self._files(content, released_files(mine))
        before = self._put_by(mine)
        # As Jupyter writes notebooks. The kept release comes second: one of another stamp is not trusted.
        _write(self._copy, f"{json.dumps(merged, indent=1, ensure_ascii=False, sort_keys=True)}\n".encode())
        self._keep(content)
        return [*notes, f"as it was before: {before}"]

    def _put_by(self, mine: bytes) -> Path:
        """Write down a copy as it is before an update, beside those of earlier ones, and return where."""
        self.kept.mkdir(parents=True, exist_ok=True)
        names = (f"{self.name}.before{f'-{number}' if number > 1 else ''}.ipynb" for number in count(1))
        path = next(path for name in names if not (path := self.kept / name).exists() or path.read_bytes() == mine)
        _write(path, mine)
        return path

    def _last_readable(self) -> Iterator[str]:
        """Yield a line that names the newest of the copies kept at updates, and of JupyterLab's own, that is whole."""
        jupyters = self.mine / ".ipynb_checkpoints" / f"{self.name}-checkpoint.ipynb"
        found = [path for path in (*self.kept.glob(f"{self.name}.before*.ipynb"), jupyters) if path.is_file()]
        for path in sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True):
            if _is_notebook(path.read_bytes()):
                yield f"the newest copy of it that can be read: {path}"
                return

    def _base(self, stamp: str) -> dict[str, Any] | None:
        """Return the release that a copy with this stamp began as; None if it is not known."""
        last = self.kept / self._file  # some programs drop what they do not know, a stamp too
        path = self.kept / f"{stamp}.ipynb" if re.fullmatch("[0-9a-f]{64}", stamp) else last
        if stamp and not path.is_file():
            path = last
        content = path.read_bytes() if path.is_file() else b""
        if not is_as_released(content):
            return None
        base: dict[str, Any] = json.loads(content)
        return base if stamp in ("", stamp_of(content)) else None

    def _keep(self, content: bytes) -> None:
        for name in (self._file, f"{stamp_of(content)}.ipynb"):
            path = self.kept / name
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, content)

    def _files(self, content: bytes, before: dict[str, str]) -> list[str]:
        """Bring the files beside the notebook up to date; return a line for each that is not the release's."""
        notes = []
        for name, wanted in released_files(content).items():
            source, target = self.released / name, self.mine / name
            if not source.is_file():
                continue
            found = checksum(target.read_bytes()) if target.is_file() else ""
            if found not in ("", wanted, before.get(name)):
                notes.append(f"yours stays: {name}")
            elif found != wanted:
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(target, source.read_bytes())
        return notes


def _is_notebook(content: bytes) -> bool:
    """Whether this can be brought up to date: with metadata, and a list of cells, each with text and metadata."""
    try:
        notebook = json.loads(content)
        cells = notebook["cells"]
        if not isinstance(notebook["metadata"], dict) or not isinstance(notebook.get("nbformat_minor", 0), int):
            return False
        return all(isinstance(cell["metadata"], dict) and "".join(cell["source"]) is not None for cell in cells)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
