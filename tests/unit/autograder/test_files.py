"""A file is there whole or not at all, and a folder is looked through to a bound."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.errors import SubmissionError
from autograder.files import MAX_DEPTH, move_whole, walk, write_whole
from tests.unit.autograder.deep import deep_folder


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, b"one")
    write_whole(path, b"")
    assert path.read_bytes() == b""
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, b"old")
    write = Path.write_bytes

    def half(self: Path, content: bytes) -> int:
        write(self, content[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new content")
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"mine")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert (target.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"mine", b"new", False)


def test_a_reader_never_sees_half_a_file_of_a_writer_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_whole(path, b"a" * 10**6)
    code = (
        "import sys; from pathlib import Path; from autograder.files import write_whole\n"
        "while True:\n    for c in b'ab':\n        write_whole(Path(sys.argv[1]), bytes([c]) * 10**6)"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(path)])
    try:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            content = path.read_bytes()
            assert content in (b"a" * 10**6, b"b" * 10**6)
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert path.stat().st_size == 10**6


def test_all_below_a_folder_is_found_in_order_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("z", "b/c/d", "b/e", "a"):
        (tmp_path / name).write_text(name)
    (tmp_path / "b" / "link").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    found = {entry.name: entry.problem for entry in walk(tmp_path)}
    assert list(found) == ["a", "pipe", "z", "b/e", "b/link", "b/c/d"]
    assert {name for name, problem in found.items() if problem} == {"pipe", "b/link"}


def test_a_folder_that_is_too_deep_is_named_and_not_entered(tmp_path: Path) -> None:
    with deep_folder(tmp_path):
        (entry,) = walk(tmp_path)
        assert entry.name == "/".join("a" * (MAX_DEPTH + 1))
        assert entry.problem == "more than 24 folders deep"


def test_a_path_that_is_too_long_is_named_and_not_entered(tmp_path: Path) -> None:
    """Paths of four kilobytes, fifty thousand times, are what a list of them cannot hold."""
    names = ["é" * 120, "é" * 120, "é" * 120, "é" * 120, "é" * 30, "x"]
    tmp_path.joinpath(*names).mkdir(parents=True)
    tmp_path.joinpath(*names[:4], "y" * 37).write_text("")
    tmp_path.joinpath(*names[:4], "y" * 36).write_text("")
    found = {entry.path.name: entry.problem for entry in walk(tmp_path)}
    too_long = "its path is longer than 1000 bytes"
    assert found == {"é" * 30: too_long, "y" * 36: "", "y" * 37: too_long}


def test_too_many_files_are_an_error_before_they_are_listed(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / str(number)).mkdir()
    assert list(walk(tmp_path, most=12)) == []
    with pytest.raises(SubmissionError, match="more than 11 files and folders"):
        list(walk(tmp_path, most=11))


def test_what_cannot_be_read_is_told_or_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "x").write_text("x")
    scandir = os.scandir

    def refuses(path: Path) -> object:
        if path.name == "shut":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuses)
    told: list[str] = []
    assert [entry.name for entry in walk(tmp_path, unread=lambda name, _: told.append(name))] == ["x"]
    assert told == ["shut"]
    with pytest.raises(PermissionError):
        list(walk(tmp_path))


def test_a_folder_that_may_not_be_moved_stays_whole_and_is_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old" / "inner").mkdir(parents=True)
    for number, moved in ((errno.EACCES, False), (errno.EXDEV, True)):

        def fails(path: Path, target: Path, number: int = number) -> Path:
            raise OSError(number, "no", str(path))

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", fails)
            with contextlib.nullcontext() if moved else pytest.raises(OSError, match="no"):
                move_whole(tmp_path / "old", tmp_path / "new")
        assert ((tmp_path / "old" / "inner").is_dir(), (tmp_path / "new").exists()) == (not moved, moved)
