"""Runs test cells until the grader hangs up: the trusted process, started inside a sandbox of its own.

Standard input holds JSON: `control`, `student` and, where there are collectives, `ranks`, in this order: the
descriptors of the sockets to the grader, to the student's process and to the one that starts ranks.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from pathlib import Path

from autograder.boundary.beside import Beside
from autograder.boundary.cells import run_cells
from autograder.boundary.folder import Folder
from autograder.boundary.frames import Carrier, Connection, ProcessDied


def main() -> None:
    """Take over the sockets and serve."""
    descriptors = json.load(sys.stdin)
    here = Folder(Path.cwd())  # nothing of the student's lies here yet
    for below in (False, True):
        Beside(Path.cwd(), below=below).install()
    control, student, *ranks = (socket.socket(fileno=number) for number in descriptors.values())
    with contextlib.suppress(ProcessDied):
        run_cells(Connection(control), Connection(student), here.restore, *map(Carrier, ranks))


if __name__ == "__main__":
    main()
