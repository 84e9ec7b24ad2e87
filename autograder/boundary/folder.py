"""The tests' working directory: each test, and what it has of locked cells, finds there what the instructor gave.

A test may unpack an archive that the student's code has made, or let its database be changed. What a locked cell reads
again for the next test, a table of cases or a helper that is run, is the instructor's all the same.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

__all__ = ["Folder"]

_Seen = tuple[int, ...]


class Folder:
    """Remembers what a folder holds when this is made, and puts it back."""

    def __init__(self, folder: Path) -> None:
        """Copies are kept in a new folder of a name that nobody knows, outside of this one."""
        self._folder = folder.resolve()
        self._aside = Path(tempfile.mkdtemp(prefix="given-"))
        self._seen: dict[str, _Seen] = {}
        for name, path in self._held().items():
            _copy(path, self._aside / name)
            self._seen[name] = _seen(path)

    def restore(self) -> None:
        """Remove what is new, put back what is gone or another, and work in this folder."""
        os.chdir(self._folder)
        for name, path in self._held().items():
            if os.path.lexists(path) and self._seen.get(name) != _seen(path):
                _remove(path)
        for name in sorted(self._seen):  # folders before what is in them
            path = self._folder / name
            if not os.path.lexists(path):
                _copy(self._aside / name, path)
                self._seen[name] = _seen(path)

    def _held(self) -> dict[str, Path]:
        """Return what is in the folder by its place in it, folders before what is in them; links are not followed."""
        found: dict[str, Path] = {}
        for place, folders, files in os.walk(self._folder):
            for name in sorted([*folders, *files]):
                path = Path(place, name)
                found[str(path.relative_to(self._folder))] = path
        return found


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a link, or make a folder like one that holds nothing yet."""
    if source.is_symlink() or not source.is_dir():
        shutil.copy2(source, target, follow_symlinks=False)
    else:
        target.mkdir()


def _seen(path: Path) -> _Seen:
    """Return what differs once a file has been written to or replaced; of a folder, that it is one."""
    about = path.lstat()
    if stat.S_ISDIR(about.st_mode):
        return (about.st_mode,)
    return (about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    path.chmod(0o700)
    for place, folders, _ in os.walk(path):
        for name in folders:
            if not (inner := Path(place, name)).is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(path)
