"""The sandbox where no other is available: resource limits, a clean room, and no walls.

Defended: the machine, against accidents and simple malice. Address space, processes, file size, open files and
processor time are limited, and the out-of-memory killer takes these processes first. The process starts in a fresh
working directory with an environment of its own. A supervisor adopts every process that it leaves behind, daemons
included, and kills all of them with the program, and also when the grader dies. Started by root, the program runs under
a uid picked at random for it alone, so that it can change none of the host's files, nor signal its processes.

Not defended: everything else. The program can read what the grader can read (solutions, hidden tests, the gradebook),
use the network, see other processes and fill the disk with many files. Started by an ordinary user it *is* that user:
it can also change and delete the user's files, and kill the supervisor and the grader. Grades made in it are marked.
"""

from __future__ import annotations

import os
import signal
import sys

from autograder.sandbox.base import Job, Sandbox
from autograder.sandbox.guest import BARE, LAUNCHER
from autograder.sandbox.guest.request import ColdStart
from autograder.sandbox.host_paths import environment, font_list, python_is_public
from autograder.sandbox.host_resources import free_uid, resource_limits, threads_of
from autograder.sandbox.process import Process, spawn

__all__ = ["ResourceLimits"]


class ResourceLimits(Sandbox):
    """Limits only; the module's docstring says what that is worth."""

    name = "limits"
    isolated = False

    def __init__(self, why_not: str) -> None:
        self.why_not = why_not

    @property
    def one_at_a_time(self) -> bool:
        """See Sandbox: for an ordinary user all are this user's, and the kernel counts processes by user."""
        return os.getuid() != 0

    def start(self, job: Job) -> Process:
        """See Sandbox.start."""
        if os.getuid() == 0:
            job.directory.chmod(0o711)  # another uid passes through to its working directory, and sees nothing else
        return spawn(
            self._request(job),
            lambda arguments: [sys.executable, *BARE, str(LAUNCHER), *arguments],
            environment=self._environment(job),
            stdin=job.stdin,
            descriptors=job.descriptors,
            leader=os.pidfd_open,
            stop_signal=signal.SIGTERM,  # upon which the supervisor ends its family, then itself
        )

    def _environment(self, job: Job) -> dict[str, str]:
        return environment(job.policy, home=f"{job.directory}/home", tmp=f"{job.directory}/tmp")

    def _request(self, job: Job) -> ColdStart:
        as_root = os.getuid() == 0
        return ColdStart(
            command=[sys.executable, "-P", str(job.program), *job.arguments],
            work=f"{job.directory}/work",
            home=f"{job.directory}/home",
            tmp=f"{job.directory}/tmp",
            files=str(job.files or ""),
            fonts=str(font_list() or ""),
            uid=free_uid() if as_root else None,
            in_user_namespace=False,
            # A Python below /root can be run by another user only with the right to read everything. Still not root.
            read_all=as_root and not python_is_public(),
            limits=resource_limits(job.limits, already_running=0 if as_root else threads_of(os.getuid())),
            filter=b"",
            tmpfs=[],
            inodes=0,
            proc="",
            seal=False,
            supervise=os.getpid(),
            landlock=None,
        )
