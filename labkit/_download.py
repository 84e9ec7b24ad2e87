"""Fetch a published file once: mirrors, resume, SHA-256, progress, and a lock between processes."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import requests

__all__ = ["DataError", "DownloadError", "fetch", "matches"]

_CONNECT_TIMEOUT_S = 10
_READ_TIMEOUT_S = 30  # between two pieces, not for the whole file
_PIECE = 1 << 16
_LINE_EVERY_S = 5.0


class DataError(Exception):
    """A data set cannot be had: `what: why`, then `hint: the fix`."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}\nhint: {hint}" if hint else message)


class DownloadError(DataError):
    """No mirror delivered the file, or there is no place for it."""


class _MirrorError(Exception):
    """One mirror failed; the message says how, for a person."""


def matches(path: Path, sha256: str) -> bool:
    """Say whether `path` is a file with this SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def fetch(urls: Sequence[str], path: Path, *, size: int, sha256: str, hint: str = "") -> Path:
    """Return `path` once it holds the file of `size` bytes with this SHA-256, downloading it if it does not yet.

    The mirrors in `urls` are tried in order. What arrives is kept as `path` + ".part" until it is whole and right, so
    an interrupted download goes on where it stopped. Other processes that want the same file wait for this one.

    Raises DownloadError, which says what happened with each mirror and ends with `hint`.
    """
    if matches(path, sha256):
        return path
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(path):
            if not matches(path, sha256):  # another process may have been faster
                _check_space(part, size)
                _from_any(urls, part, size=size, sha256=sha256, hint=hint)
                part.replace(path)
    except OSError as error:
        fix = "free some space, or set LABKIT_DATA to a folder that you may write to"
        raise DownloadError(f"{path}: cannot be written ({error.strerror or error})", hint=fix) from error
    return path


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(path.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"{path.name}: waiting for another process that downloads it", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _check_space(part: Path, size: int) -> None:
    missing = size - _length(part)
    free = shutil.disk_usage(part.parent).free
    if missing > free:
        fix = "free some space, or set LABKIT_DATA to a folder on another disk"
        raise DownloadError(f"{part.parent}: {_mb(missing)} to download, {_mb(free)} free", hint=fix)


def _from_any(urls: Sequence[str], part: Path, *, size: int, sha256: str, hint: str) -> None:
    """Fill `part` from the first mirror that delivers the right bytes."""
    failures = []
    for url in urls:
        print(f"{url}: downloading {_mb(size)}", file=sys.stderr)
        try:
            return _from_one(url, part, size=size, sha256=sha256)
        except _MirrorError as error:
            failures.append(f"\n  {url}: {error}")
    name = part.name.removesuffix(".part")
    raise DownloadError(f"{name}: no mirror delivered it{''.join(failures)}", hint=hint)


def _from_one(url: str, part: Path, *, size: int, sha256: str) -> None:
    """Fill `part` from one mirror, going on for as long as every new connection brings more of it."""
    untouched = not _length(part)
    while True:
        had = _length(part)
        broken = _receive(url, part, size)
        if broken and _length(part) <= had:
            raise _MirrorError(broken)
        if broken:
            continue
        if matches(part, sha256):
            return
        part.unlink()
        if untouched:
            raise _MirrorError("wrong content (SHA-256 differs)")
        untouched = True  # an older part may have been at fault: once more, all of it from here


def _receive(url: str, part: Path, size: int) -> str | None:
    """Append to `part` what is missing; return None when it is full, else why it is not.

    Raises _MirrorError when the mirror does not have the file, or has another one under this name.
    """
    import requests
    import urllib3

    start = _length(part)
    if start >= size:
        return None
    # Without `identity` a server may compress a .gz once more; without raw access requests would unpack it.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    timeout = (_CONNECT_TIMEOUT_S, _READ_TIMEOUT_S)
    try:
        with requests.get(url, headers=headers, stream=True, timeout=timeout) as answer:
            answer.raise_for_status()
            start = _start(answer, start, size)
            pieces = answer.raw.stream(_PIECE, decode_content=False)
            _write(pieces, part, start=start, size=size)
    except requests.HTTPError as error:
        raise _MirrorError(f"{error.response.status_code} {error.response.reason}") from error
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        return _reason(error)
    return None if _length(part) == size else "the connection ended early"


def _start(answer: requests.Response, start: int, size: int) -> int:
    """Return where in the file the answer begins: at `start`, or at 0 when the server ignored the range."""
    if answer.status_code == 206:
        span = answer.headers.get("Content-Range", "")
        if span.startswith(f"bytes {start}-") and span.endswith((f"/{size}", "/*")):
            return start
        raise _MirrorError(f"answered with another range ({span or 'not named'}, expected from {start} of {size})")
    length = answer.headers.get("Content-Length", str(size))
    if length != str(size):
        raise _MirrorError(f"has another file ({length} bytes, expected {size})")
    return 0


def _write(pieces: Iterator[bytes], part: Path, *, start: int, size: int) -> None:
    done = start
    with part.open("r+b" if start else "wb") as file, _progress(part, size) as show:
        file.seek(start)
        for piece in pieces:
            done += len(piece)
            if done > size:
                break
            file.write(piece)
            show(done)
    if done > size:
        part.unlink()
        raise _MirrorError(f"has another file (more than {size} bytes)")


@contextlib.contextmanager
def _progress(part: Path, size: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal, elsewhere (a notebook, a log) a line every few seconds, both on stderr."""
    name = part.name.removesuffix(".part")
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(name, total=size)
            yield lambda done: bar.update(task, completed=done)
        return
    shown = time.monotonic()

    def line(done: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= _LINE_EVERY_S:
            shown = time.monotonic()
            print(f"{name}: {_mb(done)} of {_mb(size)}", file=sys.stderr)

    yield line


def _reason(error: Exception) -> str:
    """Say in a few words what requests says in five lines."""
    import requests

    signs = {
        "NameResolutionError": "its name cannot be looked up (no network?)",
        "refused": "connection refused",
        "timed out": f"no answer within {_CONNECT_TIMEOUT_S} to {_READ_TIMEOUT_S} s",
        "IncompleteRead": "the connection ended early",
    }
    for sign, words in signs.items():
        if sign in str(error):
            return words
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate was not accepted"
    return f"no connection ({type(error).__name__})"


def _length(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _mb(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
