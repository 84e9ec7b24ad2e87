"""The program that a pre-warmed process forked, as the trusted side holds it."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

__all__ = ["Fork"]

_WITHOUT_A_WORD = 128 + signal.SIGKILL
_MAX_ANSWER_BYTES = 64


class Fork:
    """The first process of a fork's pid namespace, known by a pidfd, and the socket on which it gives the exit code.

    It has what Process asks of a Popen.
    """

    def __init__(self, leader: int, answers: socket.socket, stderr: int, ended: Callable[[], None]) -> None:
        """Take over the reading end of standard error, and the socket, which must not block when the code is asked for.

        ended() is called once, when the exit code has come.
        """
        self.pid = _pid_of(leader)
        self.stderr = os.fdopen(stderr, "rb", buffering=0)
        self._answers = answers
        self._ended = ended
        self._lock = threading.Lock()
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        return self._receive(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired after timeout seconds."""
        code = self._receive(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("fork", timeout or 0)
        return code

    def kill(self) -> None:
        """Do nothing: the signal to the first process was all that can be done."""

    def _receive(self, timeout_s: float | None) -> int | None:
        if self._code is None:
            waiting = select.poll()
            with self._lock:
                if self._code is None:
                    waiting.register(self._answers, select.POLLIN)
            waiting.poll(None if timeout_s is None else timeout_s * 1000)
        with self._lock:
            if self._code is None:
                self._read_answer()
        return self._code

    def _read_answer(self) -> None:
        try:
            answer = self._answers.recv(_MAX_ANSWER_BYTES)
        except BlockingIOError:
            return
        except ConnectionResetError:
            answer = b""
        self._code = int(answer) if answer.isdigit() else _WITHOUT_A_WORD
        self._answers.close()
        self._ended()


def _pid_of(leader: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{leader}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
