"""Keeps which parts of a file are in memory from saying anything: all of it is, before anybody could choose.

The kernel keeps what was read of a file, whoever reads it next, and how long a read takes tells whether it was there.
A process that may open no file can still touch what it has mapped, its libraries for example.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path

__all__ = ["make_resident", "mapped_files"]

_POPULATE_READ = 22
"""MADV_POPULATE_READ of Linux 5.14: an older one is asked for each page."""
_PAGE = 4096
_MOST_BYTES = 4 << 30
_WITH_A_PATH = 6
"""A line of /proc/self/maps has so many fields if a file is mapped: the last is its path."""


def mapped_files() -> frozenset[str]:
    """Return the paths of the files on disk that this process has mapped; none where the system does not tell."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return frozenset()
    fields = [line.split(maxsplit=_WITH_A_PATH - 1) for line in maps.read_text().splitlines()]
    paths = [line[-1] for line in fields if len(line) == _WITH_A_PATH]
    return frozenset(path for path in paths if path.startswith("/") and not path.endswith(" (deleted)"))


def make_resident(paths: Iterable[str]) -> None:
    """Have the kernel read these files to their end. Raises OSError for one that cannot be read, or far too much."""
    files = [Path(path) for path in paths]
    if sum(file.stat().st_size for file in files) > _MOST_BYTES:
        raise OSError(f"more than {_MOST_BYTES >> 30} GiB of files are mapped")
    for file in files:
        if file.is_file() and file.stat().st_size:
            with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
                _touch(content)


def _touch(content: mmap.mmap) -> None:
    try:
        content.madvise(_POPULATE_READ)
    except OSError:
        content[::_PAGE]
