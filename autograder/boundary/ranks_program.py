"""Starts ranks for the tests of a notebook until the trusted process hangs up: started inside a sandbox of its own.

Standard input holds JSON: `tests`, the descriptor of the socket to the trusted process.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path

from autograder.boundary.frames import Connection
from autograder.boundary.rank_host import serve


def main() -> None:
    """Take over the socket and serve. What ranks print is shown to nobody: it may hold what a hidden test drew."""
    descriptor = json.load(sys.stdin)["tests"]
    _seem_read(Path.cwd())
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    if prefork := sys.modules.get("labkit._launch.prefork"):
        prefork.server.fork_server()
    serve(Connection(socket.socket(fileno=descriptor)))


def _seem_read(place: Path) -> None:
    """Let all below have been read in a year: then no system notes when it is, and nobody finds what others have read.

    (Where what is read is noted once a day and after each change, as is usual.)
    """
    later = time.time() + 365 * 24 * 3600
    for below in (place, *place.rglob("*")):
        with contextlib.suppress(OSError):
            os.utime(below, (later, below.stat().st_mtime))


if __name__ == "__main__":
    main()
