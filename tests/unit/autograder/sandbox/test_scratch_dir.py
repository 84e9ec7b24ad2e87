from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.scratch_dir import ScratchDir


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="t-") as directory:
        monkeypatch.setattr(tempfile, "tempdir", directory)
        yield Path(directory)


def make_old(path: Path) -> None:
    os.utime(path, (time.time() - 3600,) * 2)


def test_a_room_is_private_and_gone_once_left(parent: Path) -> None:
    room = ScratchDir()
    assert room.path.parent == parent
    assert room.path.stat().st_mode & 0o077 == 0
    (room.path / "work").mkdir()
    room.leave()
    room.leave()
    assert list(parent.iterdir()) == []


def test_a_room_whose_owner_died_is_cleared_by_the_next(parent: Path) -> None:
    abandoned = parent / "autograder-room-dead"
    (abandoned / "work").mkdir(parents=True)
    make_old(abandoned)
    room = ScratchDir()
    assert list(parent.iterdir()) == [room.path]
    room.leave()


def test_what_bwrap_had_begun_in_an_abandoned_room_is_ended_and_nothing_else(parent: Path) -> None:
    abandoned, other = parent / "autograder-room-dead", parent / "autograder-room-deader"
    abandoned.mkdir()

    def begin(program: str, path: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [program, "-c", "sleep 60 & wait", "--ro-bind", f"{path}/passwd"], executable="/bin/bash"
        )

    begun = [begin("/usr/bin/bwrap", abandoned), begin("/usr/bin/bwrap", other), begin("/usr/bin/vi", abandoned)]
    try:
        make_old(abandoned)
        ScratchDir().leave()
        assert begun[0].wait(10) == -signal.SIGKILL
        assert [process.poll() for process in begun[1:]] == [None, None]
        assert list(parent.iterdir()) == []
    finally:
        for process in begun:
            process.kill()
            process.wait()


def test_a_room_whose_owner_lives_is_kept(parent: Path) -> None:
    first = ScratchDir()
    make_old(first.path)
    second = ScratchDir()
    assert first.path.exists()
    first.leave()
    second.leave()


def test_a_room_just_made_is_kept_though_not_yet_locked(parent: Path) -> None:
    fresh = parent / "autograder-room-fresh"
    fresh.mkdir()
    room = ScratchDir()
    assert fresh.exists()
    room.leave()


def test_a_link_in_place_of_a_room_is_not_followed(parent: Path) -> None:
    (parent / "precious").mkdir()
    link = parent / "autograder-room-link"
    link.symlink_to(parent / "precious")
    os.utime(link, (0, 0), follow_symlinks=False)
    ScratchDir().leave()
    assert (parent / "precious").exists()


def test_sockets_fit_below_a_long_temporary_directory(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = parent / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    room = ScratchDir()
    assert len(os.fsencode(room.path / "k-5")) < 108
    room.leave()
