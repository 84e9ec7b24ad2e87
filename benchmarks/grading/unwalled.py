"""A pre-warmed process without walls: what a kernel costs if nothing stands between it and the machine.

For measuring only: nothing that a stranger wrote may run in it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from autograder.sandbox import Job, Policy, Process, Sandbox
from autograder.sandbox.fork import Fork
from autograder.sandbox.host_paths import environment

__all__ = ["Unwalled"]

_PROGRAM = Path(__file__).with_name("unwalled_program.py")


class Unwalled(Sandbox, AbstractContextManager["Unwalled"]):
    """Starts programs as `autograder.sandbox.Prewarmed` does, by forks of a process with the same imports; no walls."""

    name = "none"
    isolated = False
    why_not = "a baseline for measurements"

    def __init__(self, preload: Sequence[str], policy: Policy | None = None) -> None:
        """Start the process, and return when it has imported the modules."""
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._home = tempfile.TemporaryDirectory(prefix="unwalled-")
        variables = environment(policy or Policy(), home=self._home.name, tmp=self._home.name)
        self._process = subprocess.Popen(
            [sys.executable, str(_PROGRAM), str(theirs.fileno()), *preload],
            env=variables | {"PYTHONPATH": str(Path(__file__).parents[2])},
            pass_fds=[theirs.fileno()],
            stdout=subprocess.DEVNULL,
        )
        theirs.close()
        if not self._requests.recv(1):
            raise RuntimeError("the pre-warmed process did not start")

    def start(self, job: Job) -> Process:
        """See Sandbox.start."""
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reader, writer = os.pipe()
        header = {
            "program": str(job.program),
            "arguments": job.arguments,
            "descriptors": job.descriptors,
            "directory": str(job.directory),
            "environment": dict(job.policy.environment),
        }
        with theirs, os.fdopen(writer, "wb"), _memory(job.stdin) as stdin, _memory(json.dumps(header).encode()) as head:
            carried = [theirs.fileno(), stdin.fileno(), writer, head.fileno(), *job.descriptors]
            socket.send_fds(self._requests, [b"."], carried)
            leader = socket.recv_fds(answers, 1, 1)[1][0]
        answers.setblocking(False)
        return Process(Fork(leader, answers, reader, lambda: None), leader, signal.SIGKILL)

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the pre-warmed process."""
        self._requests.close()
        self._process.wait()
        self._home.cleanup()


def _memory(content: bytes) -> BinaryIO:
    file = os.fdopen(os.memfd_create("unwalled"), "w+b", buffering=0)
    file.write(content)
    file.seek(0)
    return file
