"""Processes that carry a mark in their environment, whoever started them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

__all__ = ["end_marked"]


def end_marked(mark: str) -> None:
    """Kill every process but this one that was started with the mark, "NAME=value", in its environment (Linux)."""
    wanted = f"{mark}\0".encode()
    found = True
    while found:
        found = False
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # another's, or gone
                if int(folder.name) != os.getpid() and wanted in (folder / "environ").read_bytes():
                    os.kill(int(folder.name), signal.SIGKILL)
                    found = True
        time.sleep(0.02 if found else 0)
