"""A pre-warmed process behind the outer wall, as the trusted side holds it: ask it for a fork, and end it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import threading
from collections.abc import Iterator, Sequence

from autograder.errors import SandboxError
from autograder.sandbox.base import Job, Policy
from autograder.sandbox.bubblewrap import HOME, OWN, SHARED_MEMORY, TMP, UID_IN_USER_NAMESPACE, WORK, Bubblewrap
from autograder.sandbox.fork import Fork
from autograder.sandbox.guest import LANDLOCK, NAMESPACES, ZYGOTE
from autograder.sandbox.guest.request import ForkStart, pack
from autograder.sandbox.host_paths import environment, etc_files, font_list, python_paths
from autograder.sandbox.host_resources import free_uid, resource_limits
from autograder.sandbox.process import READY, Process, memory_file, refusal
from autograder.sandbox.scratch_dir import ScratchDir
from autograder.sandbox.seccomp import filter_program

__all__ = ["Zygote", "ZygoteFault"]

_BESIDE = {path.name: path for path in (NAMESPACES, LANDLOCK)}  # the launcher and its request are there in any case
_PRELOAD_TIMEOUT_S = 120
_ANSWER_TIMEOUT_S = 90
_MAX_ANSWER_BYTES = 64


class ZygoteFault(Exception):
    """The pre-warmed process cannot be put up, died or does not answer; another one may do better."""


class Zygote:
    """One pre-warmed process and the sandbox around it.

    Attributes:
        forks: how many were asked for.
        closed: whether it was ended.
    """

    def __init__(self, outer: Bubblewrap, preload: Sequence[str], policy: Policy) -> None:
        """Start it, and return when it has imported the modules.

        Raises ZygoteFault when its sandbox cannot be had, and SandboxError when a module cannot be imported in it.
        """
        self._outer = outer
        self._policy = policy
        self._lock = threading.Lock()
        self._running = 0
        self._retired = False
        self.forks = 0
        self.closed = False
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        room = ScratchDir()
        try:
            job = Job(
                program=ZYGOTE,
                directory=room.path,
                arguments=(str(theirs.fileno()), *preload),
                descriptors=(theirs.fileno(),),
                policy=policy,
            )
            self._process = outer.start_host(job, _BESIDE)
        except BaseException as error:
            self._requests.close()
            if isinstance(error, SandboxError):
                raise ZygoteFault(str(error)) from error
            raise
        finally:
            theirs.close()
            room.leave()
        self._await_warmth()

    def start(self, job: Job) -> Process:
        """Fork a process for the job, and return when its program is about to run.

        Raises ZygoteFault when the fault lies here, and SandboxError when it lies in the job.
        """
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        answers.settimeout(_ANSWER_TIMEOUT_S)
        reader, writer = os.pipe()
        with self._lock:
            self.forks += 1
            self._running += 1
        try:
            with (
                theirs,
                os.fdopen(writer, "wb", buffering=0),
                _carried(job, self._request(job)) as (stdin, *others),
            ):
                _may_send()
                socket.send_fds(self._requests, [b"."], [theirs.fileno(), stdin, writer, *others, *job.descriptors])
            # Held by nobody else now: when the pre-warmed process dies, this ends.
            leader = _pidfd_from(answers)
        except BaseException as error:
            self._one_less()
            answers.close()
            os.set_blocking(reader, False)  # the request may lie unread, with the other end
            with os.fdopen(reader, "rb") as stderr:
                reason = (stderr.read() or b"").decode(errors="replace") or str(error)
            if isinstance(error, OSError):
                raise ZygoteFault(reason) from error
            raise
        process = Process(Fork(leader, answers, reader, self._one_less), leader, signal.SIGKILL)
        return self._await_ready(process, answers)

    def retire(self) -> None:
        """End once the last program has ended; no more are started."""
        with self._lock:
            self._retired = True
            idle = self._running == 0
        if idle:
            self.close()

    def close(self) -> None:
        """End it, and all programs that it started. Safe to call twice."""
        self.closed = True
        self._requests.close()
        self._process.close()

    def _await_warmth(self) -> None:
        self._requests.settimeout(_PRELOAD_TIMEOUT_S)
        try:
            warm = self._requests.recv(_MAX_ANSWER_BYTES)
        except TimeoutError:
            warm = b""
        if not warm:
            self.close()
            message = self._process.last_words() or f"no answer within {_PRELOAD_TIMEOUT_S} s"
            raise SandboxError(
                f"pre-warmed process: {message.splitlines()[-1]}", hint="can these modules be imported in the sandbox?"
            )
        self._requests.settimeout(_ANSWER_TIMEOUT_S)

    def _await_ready(self, process: Process, answers: socket.socket) -> Process:
        ready = False
        try:
            ready = answers.recv(_MAX_ANSWER_BYTES) == READY
        except TimeoutError as error:
            raise ZygoteFault(f"a fork was not ready within {_ANSWER_TIMEOUT_S} s") from error
        finally:
            answers.setblocking(False)
            if not ready:
                process.close()
        if ready:
            return process
        if self._process.poll() is not None:
            raise ZygoteFault("it ended")
        raise refusal(process)

    def _request(self, job: Job) -> bytes:
        way = self._outer.way
        fonts = font_list()
        uid = free_uid() if way.as_root else UID_IN_USER_NAMESPACE
        request = ForkStart(
            arguments=list(job.arguments),
            descriptors=list(job.descriptors),
            environment=environment(job.policy, home=HOME, tmp=TMP),
            limits=resource_limits(job.limits, already_running=self._outer.already_running()),
            own=OWN,
            work=WORK,
            home=HOME,
            sizes={TMP: job.limits.scratch_mib << 20, SHARED_MEMORY: job.limits.shared_memory_mib << 20},
            inodes=job.limits.files,
            kept=[str(path) for path in (*python_paths(), *job.policy.read_only)],
            etc=etc_files(uid, home=HOME),
            fonts=f"{OWN}/{fonts.name}" if fonts else "",
            files=str(job.files or ""),
            uid=uid,
            in_user_namespace=not way.as_root,
            own_proc=way.own_proc,
            filter=filter_program() if way.filtered else b"",
            devices=[str(node) for node in job.policy.devices],
        )
        return pack(request)

    def _one_less(self) -> None:
        with self._lock:
            self._running -= 1
            last = self._retired and self._running == 0
        if last:
            self.close()


def _may_send() -> None:
    """Let this process send descriptors while others of this user have a thousand under way, as many as they may open.

    The kernel refuses that to whom its own limit of open files does not let.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _pidfd_from(answers: socket.socket) -> int:
    _, received, _, _ = socket.recv_fds(answers, _MAX_ANSWER_BYTES, 1)
    if not received:
        raise ConnectionResetError("it gave no reason")
    return received[0]


@contextlib.contextmanager
def _carried(job: Job, request: bytes) -> Iterator[list[int]]:
    """Open what goes with a request: standard input, the request, the program, and the directory of files, if any."""
    with contextlib.ExitStack() as stack:
        descriptors = [stack.enter_context(memory_file(content)) for content in (job.stdin, request)]
        try:
            for path in (job.program, *([job.files] if job.files else [])):
                descriptors.append(os.open(path, os.O_RDONLY))
                stack.callback(os.close, descriptors[-1])
        except OSError as error:
            raise SandboxError(f"sandbox: {error.filename}: {error.strerror}") from error
        yield descriptors
