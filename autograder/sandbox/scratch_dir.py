"""Private directories for sockets and scratch files, removed even when their owner was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

__all__ = ["PREFIX", "ScratchDir"]

PREFIX = "autograder-room-"
# A Unix socket's path holds at most 107 bytes; the room's own name and the socket's take less than 40.
_MAX_PARENT_BYTES = 64
# Between making a room and locking it another process could take it for abandoned.
_GRACE_S = 60


class ScratchDir:
    """A fresh directory that only its owner can list. The lock on it says that the owner is alive."""

    def __init__(self) -> None:
        """Make a room, and clear away those of this user whose owner died without leaving."""
        parent = Path(tempfile.gettempdir())
        if len(os.fsencode(parent)) > _MAX_PARENT_BYTES:
            parent = Path("/tmp")
        _clear_abandoned(parent)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def leave(self) -> None:
        """Remove the directory. Safe to call twice."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def _clear_abandoned(parent: Path) -> None:
    for path in parent.glob(f"{PREFIX}*"):
        try:
            status = path.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _GRACE_S:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # another process was faster
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _end_starters(path)
            shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            continue  # its owner lives
        finally:
            os.close(lock)


def _end_starters(room: Path) -> None:
    """End what bwrap had begun in a room when its grader was killed.

    bwrap makes a child and lets it wait for a word. If its grader is killed before that word comes, it dies too, but
    the child only dies with it from that word on, and waits forever. No program has been started in it yet.
    """
    inside = os.fsencode(room) + b"/"
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            process = os.pidfd_open(int(entry.name))  # before the look at what it is: the number may be given again
            try:
                program, *arguments = (entry / "cmdline").read_bytes().split(b"\0")
                if program.endswith(b"/bwrap") and any(argument.startswith(inside) for argument in arguments):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
            finally:
                os.close(process)
