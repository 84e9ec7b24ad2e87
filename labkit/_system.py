"""What only Linux has, and what stands for it on a Mac: no other module of labkit asks which system this is."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "FORKING",
    "LINUX",
    "LOOPBACK",
    "busy",
    "cores_of_this_process",
    "end_marked",
    "end_with_parent",
    "held_up",
    "is_root",
    "prctl",
    "processor_name",
    "started_with",
    "syscall",
    "text",
]

LINUX = sys.platform == "linux"
"""Whether what only Linux has may be used. No setting says otherwise: who is graded could turn walls off with it."""

LOOPBACK = {"linux": "lo", "darwin": "lo0"}.get(sys.platform, "")
"""The interface through which processes of this machine talk, whether or not it has a network; empty: unknown."""

FORKING = {"OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES"} if sys.platform == "darwin" else {}
"""What a process that will fork is started with: else macOS ends forks where a library has used Objective-C before."""

_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.5
_BEGUN_S = 1.0
_OF_THE_KERNEL = 0x00200000
"""PF_KTHREAD of include/linux/sched.h."""


def prctl(option: int, *arguments: bytes | int) -> int:
    """Change this process as the option says; -1: refused, or no such thing here."""
    return int(ctypes.CDLL(None).prctl(option, *arguments)) if LINUX else -1


def syscall(number: int, *arguments: bytes | int | None) -> int:
    """Make a system call by its number, which is Linux's; -1: refused, or no such thing here."""
    return int(ctypes.CDLL(None).syscall(number, *arguments)) if LINUX else -1


def text(path: Path) -> str:
    """Return a file in which the kernel tells about itself, /proc/cpuinfo for one; empty where there is none."""
    if not LINUX:
        return ""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def held_up(process: int) -> float:
    """Return for how many seconds a process has been ready to run while others had the processors; 0: nobody knows."""
    # https://docs.kernel.org/scheduler/sched-stats.html: nanoseconds on a processor, then waiting for one
    numbers = text(Path(f"/proc/{process}/schedstat")).split()
    return int(numbers[1]) / 1e9 if len(numbers) == 3 else 0.0


def busy() -> bool:
    """Return whether more is to run on this machine than there are cores for this process; no, if nobody tells."""
    try:
        return os.getloadavg()[0] > cores_of_this_process()
    except OSError:
        return False


def cores_of_this_process() -> int:
    """Return how many cores this process may run on; on a Mac, all there are."""
    return len(os.sched_getaffinity(0)) if LINUX else os.cpu_count() or 1


def processor_name() -> str:
    """Return what a Mac calls its processor; empty elsewhere."""
    if platform.system() != "Darwin":
        return ""
    command = ["sysctl", "-n", "machdep.cpu.brand_string"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=5)
    return done.stdout.strip()


def is_root() -> bool:
    """Return whether the user is root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


# ----------------------------------------------------------------------------------------- the lifetimes of processes
def end_with_parent(number: signal.Signals) -> None:
    """Have this signal sent to this process when the one that started it has gone; on a Mac, within a second."""
    if prctl(_PR_SET_PDEATHSIG, number) < 0:
        threading.Thread(target=_end_after, args=(os.getppid(), number), daemon=True).start()


def _end_after(parent: int, number: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os.kill(os.getpid(), number)


def end_marked(mark: str) -> None:
    """Kill every process but this one that was started with the mark, "NAME=value", in its environment."""
    found = True
    while found:
        found = False
        for pid in started_with(mark):
            with contextlib.suppress(OSError):  # gone
                os.kill(pid, signal.SIGKILL)
                found = True
        time.sleep(0.02 if found else 0)


def started_with(mark: str) -> Iterator[int]:
    """Yield the other processes whose environment began with this "NAME=value", as far as this user may look."""
    for pid, environment in _environments() if LINUX else _environments_elsewhere():
        if pid != os.getpid() and f"{mark}\0".encode() in environment:
            yield pid


def _environments() -> Iterator[tuple[int, bytes]]:
    """Yield each process with its environment; last those that begin just now, whose environment is empty so far."""
    later, deadline = _folders(), time.monotonic() + _BEGUN_S
    while later:
        folders, later = later, []
        for folder in folders:
            with contextlib.suppress(OSError):  # another's, or gone
                environment = (folder / "environ").read_bytes()
                if environment or _has_none(folder) or time.monotonic() > deadline:
                    yield int(folder.name), environment
                else:
                    later.append(folder)
        time.sleep(0.002 if later else 0)


def _folders() -> list[Path]:
    return list(Path("/proc").glob("[0-9]*"))


def _has_none(folder: Path) -> bool:
    """Return whether a process has no environment, nor is about to get one; see proc_pid_stat(5): fields 9, 46, 50, 51.

    The kernel's own have none, and look as one does whose program is still being loaded, but for a flag.
    """
    state, *fields = (folder / "stat").read_bytes().rpartition(b") ")[2].split()
    flags, end_of_data, begin, end = (int(fields[number - 4]) for number in (9, 46, 50, 51))
    return state in b"ZX" or bool(flags & _OF_THE_KERNEL) or (end_of_data != 0 and begin == end)


def _environments_elsewhere() -> Iterator[tuple[int, bytes]]:
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            pairs = process.environ().items()
            yield process.pid, "".join(f"{name}={value}\0" for name, value in pairs).encode("utf-8", "surrogateescape")
