"""Writes files so that they are there whole or not at all, and lists those of a folder that nobody vouches for."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from autograder.errors import SubmissionError

__all__ = [
    "MAX_DEPTH",
    "MAX_ENTRIES",
    "MAX_PATH",
    "Entry",
    "folder_for_replaced",
    "move_whole",
    "place_for_replaced",
    "places_without_room",
    "walk",
    "write_whole",
]

MAX_DEPTH = 24
"""How many folders deep a file may stand; a path through a thousand is more than most programs take."""
MAX_PATH = 1000
"""How many bytes its path below the folder may have; fifty thousand of the longest would be 200 MB."""
MAX_ENTRIES = 50_000
"""Of one submission: as many as the sandbox takes."""


_LEAST_FREE = 16 * 1024 * 1024
_LEAST_FILES = 100


@dataclass(frozen=True)
class Entry:
    """What stands somewhere below a folder; of folders only those that were not entered."""

    path: Path
    name: str
    """Its path below the folder, with slashes."""
    status: os.stat_result

    @property
    def ordinary(self) -> bool:
        """Whether it is a file, and no link, pipe or device."""
        return stat.S_ISREG(self.status.st_mode)

    @property
    def problem(self) -> str:
        """Why it cannot be taken; empty if it can."""
        if _too_long(self.name):
            return f"its path is longer than {MAX_PATH} bytes"
        if stat.S_ISDIR(self.status.st_mode):
            return f"more than {MAX_DEPTH} folders deep"
        if stat.S_ISLNK(self.status.st_mode):
            return "a link, not a file"
        return "" if self.ordinary else "not an ordinary file"


def walk(
    root: Path, *, most: int = MAX_ENTRIES, unread: Callable[[str, OSError], object] | None = None
) -> Iterator[Entry]:
    """Yield what stands below a folder, in order and with no link followed.

    No more than MAX_DEPTH folders deep, and below no path longer than MAX_PATH.
    unread: told of what cannot be read, which otherwise is raised.
    Raises SubmissionError at more than `most` files and folders.
    """
    waiting, count = [("", 0)], 0
    while waiting:
        inside, depth = waiting.pop()
        below: list[tuple[str, int]] = []
        for name in _names(root / inside, inside, most, unread):
            if (count := count + 1) > most:
                raise SubmissionError(f"{root}: more than {most} files and folders", hint="take out what is too much")
            where = f"{inside}/{name}" if inside else name
            try:
                status = (root / where).lstat()
            except OSError as error:
                _say(where, error, unread)
                continue
            if stat.S_ISDIR(status.st_mode) and depth < MAX_DEPTH and not _too_long(where):
                below.append((where, depth + 1))
            else:
                yield Entry(root / where, where, status)
        waiting += reversed(below)


def _too_long(name: str) -> bool:
    return len(os.fsencode(name)) > MAX_PATH


def _names(folder: Path, inside: str, most: int, unread: Callable[[str, OSError], object] | None) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in islice(found, most + 1))
    except OSError as error:
        _say(inside, error, unread)
        return []


def _say(where: str, error: OSError, unread: Callable[[str, OSError], object] | None) -> None:
    if unread is None:
        raise error
    unread(where, error)


def write_whole(path: Path, content: bytes) -> None:
    """Write through a temporary file beside it; a full disk or a kill leaves the old file as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def move_whole(source: Path, target: Path) -> None:
    """Move a folder to a place where nothing is, in one step; to another file system it is copied, then removed.

    shutil.move copies whatever may not be moved, too: then both are there, or half of it where it was.
    """
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(source, target)


def folder_for_replaced(state: Path, lab: str, whose: str) -> Path:
    """Return the folder, which need not be there, of all that was replaced of somebody's."""
    return state / "replaced" / lab / whose


def place_for_replaced(state: Path, lab: str, whose: str) -> Path:
    """Return a new place below .autograder/replaced for what is replaced now, in a folder that is there."""
    place = folder_for_replaced(state, lab, whose) / time.strftime("%Y-%m-%d_%H%M%S")
    while place.exists():
        place = place.with_name(f"{place.name}_")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def places_without_room(*more: Path) -> list[Path]:
    """Return which directories lie on a disk that is full, or takes no more files: the current, the temporary, these.

    No one is named twice for one disk.
    """
    found, disks = list[Path](), set[int]()
    for place in (*more, Path.cwd(), Path(tempfile.gettempdir())):
        if place.stat().st_dev in disks:
            continue
        disks.add(place.stat().st_dev)
        disk = os.statvfs(place)
        if disk.f_bavail * disk.f_frsize < _LEAST_FREE or (disk.f_files > 0 and disk.f_favail < _LEAST_FILES):
            found.append(place)
    return found
