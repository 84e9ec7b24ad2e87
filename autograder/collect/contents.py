"""A zip file's list of contents: bounded before anything is made of it, repaired where one name would stop it all."""

from __future__ import annotations

import os
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, cast

from autograder.errors import CourseError

__all__ = ["MAX_FILES", "TooMany", "readable"]

MAX_FILES = 300_000
"""Three times what a class of a thousand with a hundred files each hands in."""
_MAX_LIST = 96 * 1024 * 1024
_ENTRY = 46
_UTF_8 = 0x800
_UNPACK = "unpack it with a program you trust and give the folder"


class TooMany(CourseError):
    """More files than are read; it says where most of them are, for they may be one student's."""

    def __init__(self, path: Path, tops: Counter[str]) -> None:
        ((most, count),) = tops.most_common(1)
        super().__init__(
            f"{path}: {tops.total()} files; {MAX_FILES} are allowed, and {count} of them are in {most[:200]!r}",
            hint="take out what is too much, or hand it over in parts",
        )


def readable(path: Path, file: BinaryIO, most: int = 0) -> BinaryIO:
    """Return the zip file as zipfile can read it; raise CourseError if its list of contents is too long.

    A name that says it is UTF-8 and is not would be the end of the whole archive. In the list it is read as the old
    code page; the file itself then counts as damaged. most: how many entries it may have, folders too; 0: as many files
    as an archive may have.
    """
    start, size = _place(path, file)
    file.seek(start)
    contents = bytearray(file.read(size))
    tops: Counter[str] = Counter()
    repaired = False
    for number, (place, name) in enumerate(_entries(contents)):
        if most and number >= most:
            raise CourseError(f"{path}: more than {most} files and folders")
        flags = int.from_bytes(contents[place + 8 : place + 10], "little")
        if flags & _UTF_8 and not _is_utf_8(name):
            contents[place + 8 : place + 10] = (flags & ~_UTF_8).to_bytes(2, "little")
            repaired = True
        if not name.endswith((b"/", b"\\")):
            tops[_top(name)] += 1
    if tops.total() > MAX_FILES:
        raise TooMany(path, tops)
    file.seek(0)
    return cast(BinaryIO, _Repaired(file, start, bytes(contents))) if repaired else file


def _place(path: Path, file: BinaryIO) -> tuple[int, int]:
    """Return where the list of contents begins, and its length, as zipfile finds them."""
    length = file.seek(0, os.SEEK_END)
    before = max(0, length - (1 << 16) - 22)
    file.seek(before)
    tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) < place + 22:
        raise zipfile.BadZipFile("no list of contents at its end")
    (size,) = struct.unpack_from("<I", tail, place + 12)
    end = before + place
    if place >= 20 and tail[place - 20 : place - 16] == b"PK\x06\x07":  # another end, and with it another list
        (at,) = struct.unpack_from("<Q", tail, place - 12)
        end -= 20 + 56
        if at != end:  # zipfile reads the one that stands before this, others read the one that is named
            raise zipfile.BadZipFile("two ends of its list of contents")
        size = _long_list(file, at)
    if size > _MAX_LIST:
        raise CourseError(f"{path}: too many files in it", hint=_UNPACK)
    return max(0, end - size), size


def _long_list(file: BinaryIO, at: int) -> int:
    """Return the size of the list of contents in a file of the longer form, whose end stands at this place."""
    file.seek(max(0, at))
    end = file.read(56)
    if len(end) < 56 or end[:4] != b"PK\x06\x06":
        raise zipfile.BadZipFile("no list of contents where its end says")
    return int(struct.unpack_from("<Q", end, 40)[0])


def _entries(contents: bytearray) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the name of each file and folder."""
    place = 0
    while place + _ENTRY <= len(contents) and contents[place : place + 4] == b"PK\x01\x02":
        name, extra, comment = struct.unpack_from("<HHH", contents, place + 28)
        yield place, bytes(contents[place + _ENTRY : place + _ENTRY + name])
        place += _ENTRY + name + extra + comment


def _top(name: bytes) -> str:
    """Return the folder that a file is in, or the one below it where that is the archive's own."""
    first, *rest = name.decode("utf-8", "replace").replace("\\", "/").split("/")[:-1] or [""]
    return f"{first}/{rest[0]}" if rest and first.endswith("_export") else first


def _is_utf_8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Repaired(BufferedIOBase):
    """A file with other bytes, as many, in one place."""

    def __init__(self, file: BinaryIO, start: int, data: bytes) -> None:
        self._file, self._start, self._data = file, start, data

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        return self._file.seek(place, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        place = self._file.tell()
        found = self._file.read(-1 if size is None else size)
        first, last = max(place, self._start), min(place + len(found), self._start + len(self._data))
        if first >= last:
            return found
        inner = self._data[first - self._start : last - self._start]
        return found[: first - place] + inner + found[last - place :]
