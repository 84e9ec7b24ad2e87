"""What the kernel tells about processors: whether there are too few, and how long a process has waited for one."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["busy", "held_up_s"]


def busy() -> bool:
    """Whether more is to run on this machine than there are processors for this process; false if nobody tells."""
    try:
        return os.getloadavg()[0] > len(os.sched_getaffinity(0))
    except OSError:
        return False


def held_up_s(process: int) -> float:
    """Return for how long a process has been ready to run while others had the processors; 0 if nobody tells."""
    try:  # https://docs.kernel.org/scheduler/sched-stats.html: nanoseconds on a processor, then waiting for one
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
