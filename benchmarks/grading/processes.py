"""What runs below this process, orphans included, and how much memory it takes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["adopt_orphans", "below", "name", "pss_mib", "wait_until_none"]

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every orphan below: whatever a killed grader leaves behind is then found below this process.

    That holds for any name, user, session or namespace, and for nothing that somebody else runs here.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def below(pid: int) -> Iterator[int]:
    """Yield the pids of all that descend from a process; those that ended meanwhile may be missing."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                yield int(child)
                yield from below(int(child))


def wait_until_none(timeout_s: float, but: str = "") -> list[str]:
    """Wait until nothing runs below this process; return the command lines of what is still there after timeout_s.

    but: the name of processes that may stay.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        _reap()
        left = [_command(pid) for pid in below(os.getpid()) if not but or name(pid) != but]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def name(pid: int) -> str:
    """Return the name that a process has or gave itself; nothing if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def pss_mib(pid: int) -> float:
    """Return a process's memory, each page divided by how many processes share it; 0 if it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        return " ".join(words).strip() or name(pid)
    return ""
