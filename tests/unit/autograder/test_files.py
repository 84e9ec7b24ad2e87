"""A file is there whole or not at all."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.files import write_whole


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
