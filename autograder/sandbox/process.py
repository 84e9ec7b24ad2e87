"""A process in a sandbox as the trusted side holds it: start, watch and measure it, end it with its descendants."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

import psutil

from autograder.errors import SandboxError
from autograder.sandbox.guest.request import ColdStart, pack
from autograder.sandbox.spawner import started_to_stay
from labkit._system import held_up

__all__ = ["READY", "Child", "Process", "memory_file", "refusal", "spawn"]

READY = b"ready"  # what is said just before the program's first instruction
_LAST_WORDS_BYTES = 8192
_PIPE_BYTES = 65_536
_PAUSE_S = 0.005  # a flood of output is drained at 13 MB/s, and costs the grader next to nothing


class Child(Protocol):
    """What Process needs to know of a program: a Popen has it, and so has the fork of a pre-warmed process."""

    @property
    def pid(self) -> int:
        """The pid of a process that all others in the sandbox descend from."""

    @property
    def stderr(self) -> IO[bytes] | None:
        """The reading end of its standard error."""

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired after so many seconds."""

    def kill(self) -> None:
        """Kill it, if nothing else did."""


class Process:
    """A running sandbox. Made by `Sandbox.start`; the kernel manager watches and ends it."""

    def __init__(self, child: Child, leader: int, stop_signal: signal.Signals) -> None:
        """Hold child, and a pidfd of the leader: the process whose end, by stop_signal, is the end of all others."""
        self.pid = child.pid
        self._child = child
        self._leader = leader
        self._stop_signal = stop_signal
        self._leader_lock = threading.Lock()
        self._stderr = b""
        self._processor_s = 0.0
        # Read all the time: ipykernel copies there what subprocesses print, and blocks forever on a full pipe.
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def poll(self) -> int | None:
        """Return the exit code of the program (128 + n: ended by signal n), or None while it runs."""
        return self._child.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Return the exit code of the program, or None if it still runs after timeout_s seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout_s)
        return self._child.poll()

    def processor_s(self) -> float:
        """Return the processor time that the program and its descendants have used, in seconds; it never falls."""
        with contextlib.suppress(psutil.Error):
            self._processor_s = max(self._processor_s, sum(map(_used_s, _family(psutil.Process(self.pid)))))
        return self._processor_s

    def held_up_s(self) -> float:
        """Return for how long its processes that are there now were ready to run while others had the processors."""
        with contextlib.suppress(psutil.Error):
            return sum(held_up(one.pid) for one in _family(psutil.Process(self.pid)))
        return 0.0

    def kill(self) -> None:
        """Kill the program and every process it left behind, without waiting for it; from any thread."""
        with self._leader_lock, contextlib.suppress(ProcessLookupError):
            if self._leader >= 0:
                signal.pidfd_send_signal(self._leader, self._stop_signal)

    def close(self, timeout_s: float = 30.0) -> int:
        """Kill the program and every process it left behind; return its exit code. Safe to call twice.

        Raises SandboxError when some process could not be killed within timeout_s seconds.
        """
        self.kill()
        with self._leader_lock:
            leader, self._leader = self._leader, -1
        if leader >= 0:
            try:
                self._await_end(leader, timeout_s)
            finally:
                os.close(leader)
        code = self._child.wait()
        self._listener.join(1.0)
        return code

    def last_words(self) -> str:
        """Return what the closed process wrote to its raw standard error, at most 8 KiB. Text of a student: data."""
        return self._stderr.decode(errors="replace").strip()

    def _listen(self) -> None:
        assert self._child.stderr is not None
        with self._child.stderr as stream:
            while chunk := os.read(stream.fileno(), _PIPE_BYTES):
                self._stderr = (self._stderr + chunk)[-_LAST_WORDS_BYTES:]
                if len(chunk) == _PIPE_BYTES:
                    time.sleep(_PAUSE_S)

    def _await_end(self, leader: int, timeout_s: float) -> None:
        ended = select.poll()
        ended.register(leader, select.POLLIN)
        if not ended.poll(timeout_s * 1000):
            self._child.kill()
            raise SandboxError(
                f"sandbox process {self.pid}: still there {timeout_s:g} s after it was killed",
                hint="look for a process in uninterruptible sleep (state D) below it: ps -ef --forest",
            )


def _family(first: psutil.Process) -> list[psutil.Process]:
    """Return a process and all below it: by the lists of children that most kernels keep, else by a look at /proc."""
    found = [first]
    for process in found:  # it grows
        try:
            lists = [path.read_text() for path in Path(f"/proc/{process.pid}/task").glob("*/children")]
        except OSError:  # it has ended
            continue
        if not lists and process.is_running():
            return [first, *first.children(recursive=True)]
        for pid in (int(word) for text in lists for word in text.split()):
            with contextlib.suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(pid))
    return found


def _used_s(process: psutil.Process) -> float:
    """Return the processor time of a process and of those that it has waited for."""
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0


@contextlib.contextmanager
def memory_file(content: bytes) -> Iterator[int]:
    """Give the descriptor of a file that has no name, and that is gone with its last descriptor."""
    with os.fdopen(os.memfd_create("autograder"), "w+b", buffering=0) as file:
        file.write(content)
        file.seek(0)
        yield file.fileno()


def spawn(
    request: ColdStart,
    command: Callable[[Sequence[str]], Sequence[str]],
    *,
    environment: Mapping[str, str],
    stdin: bytes,
    descriptors: Sequence[int],
    leader: Callable[[int], int],
    stop_signal: signal.Signals,
) -> Process:
    """Start command(arguments of `launcher.py`) and return when the program in the sandbox is about to run.

    leader(pid) opens a pidfd of the process that all others in the sandbox die with; it is negative when there is none
    any more.

    Raises SandboxError with what the command printed when it ended before the report.
    """
    ready, ready_end = os.pipe()
    try:
        with memory_file(pack(request)) as told:
            popen = _popen(command([str(told), str(ready_end)]), environment, (*descriptors, told, ready_end))
    except OSError as error:
        os.close(ready)
        raise SandboxError(f"sandbox: cannot start: {error}") from error
    finally:
        os.close(ready_end)
    with os.fdopen(ready, "rb", buffering=0) as report:
        process = Process(popen, leader(popen.pid), stop_signal)
        started = False
        try:
            _feed(popen, stdin)
            started = report.read(len(READY)) == READY
        finally:
            if not started:
                popen.kill()
                process.close()
    if started:
        return process
    raise refusal(process)


def _popen(argv: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    return started_to_stay(
        lambda: subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd="/",
            pass_fds=descriptors,
            start_new_session=True,  # Ctrl-C in the grader's terminal is the grader's to handle
        )
    )


def refusal(process: Process) -> SandboxError:
    """Return the error of a closed process that ended before its program was reached."""
    message = process.last_words() or "it gave no reason"
    return SandboxError(f"sandbox: cannot be set up: {message.splitlines()[-1]}")


def _feed(popen: subprocess.Popen[bytes], stdin: bytes) -> None:
    assert popen.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        popen.stdin.write(stdin)
    with contextlib.suppress(BrokenPipeError):
        popen.stdin.close()
