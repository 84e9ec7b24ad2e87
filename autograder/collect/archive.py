"""Reads a zip file or a folder that nobody vouches for: nothing is unpacked, and what is read is bounded."""

from __future__ import annotations

import os
import re
import stat
import struct
import time
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from autograder.collect.contents import MAX_FILES, TooMany, readable
from autograder.errors import CourseError, SubmissionError
from autograder.files import MAX_DEPTH, MAX_PATH, walk

__all__ = ["UNREAD", "Archive", "Member", "open_archive", "open_zip"]

UNREAD = "cannot be read"
_MAX_RATIO = 300
_RATIO_FROM = 5 * 1024 * 1024
_MAX_WALKED = 2 * MAX_FILES
"""Files and folders together."""
_CHUNK = 1 << 20
_JUNK = re.compile(
    r"(^|/)(__MACOSX|\.ipynb_checkpoints|\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)(/|$)", re.IGNORECASE
)
_READ = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""How a file may be packed. Of the other ways zipfile unpacks a megabyte at once, which may become twenty gigabytes;
no learning management system uses them."""


@dataclass(frozen=True)
class Member:
    """One file: its path with slashes, and when it was last changed, in seconds since 1970; 0 if unknown."""

    path: str
    size: int
    when: float
    source: zipfile.ZipInfo | Path
    zipped: zipfile.ZipFile | None = field(default=None, compare=False, repr=False)
    """The zip file that it is in, where that is one within the archive."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass
class Archive:
    """The files of a zip file or folder that may be read; all others, with the reason."""

    members: list[Member] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    zipped: zipfile.ZipFile | None = None

    def read(self, member: Member, limit: int) -> bytes:
        """Return the content of a file; raise SubmissionError if it is longer than `limit` bytes or damaged."""
        if member.size > limit:
            raise SubmissionError(f"{member.size} bytes; {limit} are allowed")
        try:
            data = self._bytes(member, limit)
        except Exception as error:  # zipfile's reader fails in many ways, and what it reads is anybody's
            raise SubmissionError(f"damaged: {error}") from error
        if len(data) > limit:
            raise SubmissionError(f"longer than the archive says; {limit} bytes are allowed")
        return data

    def _bytes(self, member: Member, limit: int) -> bytes:
        if isinstance(member.source, Path):
            file = os.open(member.source, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(file, "rb") as opened:
                return opened.read(limit + 1)
        zipped = member.zipped or self.zipped
        assert zipped is not None
        with zipped.open(member.source) as stream:
            pieces, left = [], limit + 1
            while left > 0 and (piece := stream.read(min(_CHUNK, left))):
                pieces.append(piece)
                left -= len(piece)
            return b"".join(pieces)

    def add(self, path: str, size: int, when: float, source: zipfile.ZipInfo | Path, problem: str) -> None:
        """Take a file in, or note why not."""
        if _JUNK.search(path):
            return
        if problem := problem or _unsafe(path):
            self.left_out.append((path[:200], problem))
        else:
            clean = "/".join(part for part in unicodedata.normalize("NFC", path).split("/") if part not in {"", "."})
            self.members.append(Member(clean, size, when, source))


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip file or a folder; raise CourseError if it is neither, is broken, or holds too much."""
    if path.is_dir():
        yield _folder(path)
        return
    try:
        with ExitStack() as stack:
            yield open_zip(path, stack.enter_context(path.open("rb")), stack)
    except (zipfile.BadZipFile, EOFError, struct.error, UnicodeDecodeError, NotImplementedError) as error:
        raise CourseError(f"{path}: not a zip file, or broken: {error}", hint="download it again") from error
    except FileNotFoundError as error:
        raise CourseError(f"{path}: no such file", hint="give the zip file that was downloaded, or a folder") from error


def open_zip(path: Path, file: BinaryIO, stack: ExitStack, most: int = 0) -> Archive:
    """Return what may be read of a zip file, open until the stack ends; path is what messages call it.

    most: see `readable`.
    """
    zipped = stack.enter_context(zipfile.ZipFile(readable(path, file, most)))
    archive = Archive(zipped=zipped)
    for info in zipped.infolist():
        if not info.filename.endswith("/"):  # is_dir fails without a name
            archive.add(_name(info), info.file_size, _when(info), info, _problem(info))
    return archive


def _name(info: zipfile.ZipInfo) -> str:
    """Return a member's path; some programs write UTF-8 and do not say so, and some write backslashes."""
    name = info.orig_filename
    if not info.flag_bits & 0x800:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _when(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1)) if info.date_time[0] > 1980 else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _problem(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG}:
        return "a link" if kind == stat.S_IFLNK else "not an ordinary file"
    if info.flag_bits & 1:
        return "encrypted"
    if info.compress_type not in _READ:
        method = zipfile.compressor_names.get(info.compress_type, str(info.compress_type))  # type: ignore[attr-defined]
        return f"packed by {method}, which is not read"
    if info.file_size > max(_RATIO_FROM, _MAX_RATIO * info.compress_size):
        return f"looks like a bomb: {info.file_size} bytes packed into {info.compress_size}"
    return ""


def _unsafe(path: str) -> str:
    """Say why a path is not one that a submission has; empty if it is."""
    if not path:
        return "a file without a name"
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "an absolute path"
    if ".." in path.split("/"):
        return "a path that leads out of its folder"
    encoded = path.encode("utf-8", "replace")
    if len(encoded) > MAX_PATH or max(map(len, encoded.split(b"/"))) > 255:
        return "a name too long"
    if path.count("/") > MAX_DEPTH:
        return f"more than {MAX_DEPTH} folders deep"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return "" if path.isprintable() else "a name with control characters"


def _folder(root: Path) -> Archive:
    archive = Archive()
    tops: Counter[str] = Counter()

    def unread(name: str, error: OSError) -> None:
        archive.left_out.append((name or ".", f"{UNREAD}: {error.strerror}"))

    for entry in walk(root, most=_MAX_WALKED, unread=unread):
        problem = {"a link, not a file": "a link"}.get(entry.problem, entry.problem)
        archive.add(entry.name, entry.status.st_size, entry.status.st_mtime, entry.path, problem)
        tops[entry.name.partition("/")[0]] += 1
        if tops.total() > MAX_FILES:
            raise TooMany(root, tops)
    return archive
