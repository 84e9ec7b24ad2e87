"""Lines that the processes of a lab add to one file, ranks too, which may open none: in memory that all share."""

from __future__ import annotations

import contextlib
import json
import mmap
import multiprocessing
import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add", "empty", "opened", "read"]

_FILE = "TESTS_SHARED_LINES"
"""The environment variable that names the file; it is shared from when this module is imported."""
_MOST = 1 << 24
_LENGTH = struct.Struct("<Q")
"""How much is in the file stands at its beginning."""
_lock = multiprocessing.Lock()


@contextlib.contextmanager
def opened() -> Iterator[Path]:
    """Give a new file to the processes that begin meanwhile; yield its path."""
    with tempfile.NamedTemporaryFile() as file:
        os.environ[_FILE] = file.name
        try:
            empty(path := Path(file.name))
            yield path
        finally:
            del os.environ[_FILE]


def empty(path: Path) -> None:
    """Forget the lines of the file."""
    with path.open("r+b") as file:
        file.truncate(_LENGTH.size + _MOST)
        file.write(_LENGTH.pack(0))


def read(path: Path) -> list[list[str]]:
    """Return the lines, each as the texts that were added."""
    content = path.read_bytes()
    (length,) = _LENGTH.unpack_from(content)
    return [json.loads(line) for line in content[_LENGTH.size : _LENGTH.size + length].splitlines()]


def _shared() -> mmap.mmap | None:
    if _FILE not in os.environ:
        return None
    with Path(os.environ[_FILE]).open("r+b") as file:
        return mmap.mmap(file.fileno(), _LENGTH.size + _MOST)


_page = _shared()


def add(*texts: str) -> None:
    """Add a line; nothing where the file is full."""
    line = json.dumps(texts).encode() + b"\n"
    with _lock:
        (length,) = _LENGTH.unpack_from(_page or _LENGTH.pack(_MOST))
        if _page is not None and length + len(line) <= _MOST:
            begin = _LENGTH.size + length
            _page[begin : begin + len(line)] = line
            _LENGTH.pack_into(_page, 0, length + len(line))
