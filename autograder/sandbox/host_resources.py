"""Resource limits as the kernel takes them, and uids that nothing else on the machine runs under."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path

from autograder.sandbox.base import ProcessLimits

__all__ = ["free_uid", "resource_limits", "threads_of"]

# RLIMIT_NPROC counts per user on the whole machine: two submissions under one uid would take each other's processes.
# The first range is one that neither distributions nor systemd use; the second, systemd's for short-lived services,
# is for containers to which only 65,536 uids are mapped.
_UID_RANGES = (range(0x70000000, 0x7FFFFFFF), range(61_184, 65_519))


def free_uid() -> int:
    """Return a uid picked at random from a range that nobody uses."""
    mapped = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    for uids in _UID_RANGES:
        if any(first <= uids.start and uids.stop <= first + count for first, _, count in mapped):
            return secrets.choice(uids)
    return 65_534


def threads_of(uid: int) -> int:
    """Return how many processes and threads run under uid."""
    total = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if process.stat().st_uid == uid:
                total += sum(1 for _ in (process / "task").iterdir())
    return total


def resource_limits(limits: ProcessLimits, *, already_running: int) -> dict[str, int]:
    """Return limits by the names of `request.Start`; already_running counts against the number of processes as well."""
    return {
        "AS": limits.memory_mib << 20,
        "CORE": 1,  # unlike 0 it keeps a crash from the host's core dump handler, too, which runs as root
        "CPU": limits.cpu_s,
        "FSIZE": limits.file_size_mib << 20,
        "NOFILE": limits.open_files,
        "NPROC": limits.processes + already_running,
    }
