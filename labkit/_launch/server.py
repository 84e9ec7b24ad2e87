"""The notebook's side of the process that forks ranks: started once, kept from one launch to the next."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from typing import IO, NoReturn, Protocol

from labkit._launch.errors import RankError
from labkit._launch.rank import EVENT, REQUEST, serve
from labkit._ranks.environment import ONE_THREAD
from labkit._system import FORKING

__all__ = ["Server", "fork_server", "warm_server"]

_START_S = 120.0
_FULL_S = 10.0
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from labkit._launch.rank import serve; serve(int(sys.argv[2]))"
)


class _Process(Protocol):
    """What is needed of subprocess.Popen."""

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class Server:
    """The process that imported torch and forks the ranks; it ends when this end of the socket closes."""

    def __init__(self, start: Callable[[socket.socket, IO[bytes]], _Process] | None = None) -> None:
        if not hasattr(os, "fork"):
            raise OSError("launch: needs a system that can fork processes\nhint: on Windows use WSL 2")
        self._owner = os.getpid()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self.channel, theirs = socket.socketpair()
        for end in (self.channel, theirs):
            end.settimeout(None)  # whatever the notebook's code has made the default
        with theirs:
            self._process = (start or _python)(theirs, self._log)
        atexit.register(self.close)
        try:
            if not wait([self.channel], _START_S):
                raise TimeoutError(f"launch: PyTorch was not imported within {_START_S:g} s\nhint: run `labkit doctor`")
            self.event()
        except BaseException:
            self.close()
            raise

    @property
    def usable(self) -> bool:
        """Whether it is alive and this process's own: a forked process must not use its parent's."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, letter: bytes, rank: int = 0, *fds: int) -> None:
        """Send a request; `fds`: the rank's end of its pipe, and where its output goes."""
        until = time.monotonic() + _FULL_S
        while True:
            try:
                socket.send_fds(self.channel, [REQUEST.pack(letter, rank)], fds)
                return
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS:
                    raise self._lost() from None
                if time.monotonic() > until:  # the kernel counts what all programs of a user have under way
                    hint = "other programs of this user hold what they could receive: end them, and call launch again"
                    raise OSError(f"launch: {error.strerror}\nhint: {hint}") from None
            time.sleep(0.05)

    def event(self) -> tuple[int, int]:
        """Wait for the next event; return the rank and its exit code."""
        data = self.channel.recv(EVENT.size, socket.MSG_WAITALL)
        if len(data) < EVENT.size:
            raise self._lost()
        _, rank, code = EVENT.unpack(data)
        return rank, code

    def _lost(self) -> OSError:
        self._log.seek(0)
        log = self._log.read().decode(errors="replace").strip()
        return OSError(f"launch: the process that starts the ranks has ended\nhint: call launch again\n{log}".strip())

    def close(self) -> None:
        """End the server, and with it every rank."""
        atexit.unregister(self.close)
        self.channel.close()
        self._log.close()
        if self._owner == os.getpid():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            self._process.kill()
            self._process.wait()


def _python(channel: socket.socket, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the server as a new Python."""
    return subprocess.Popen(
        [sys.executable, "-c", _CODE, json.dumps([*map(str, sys.path)]), str(channel.fileno())],
        pass_fds=[channel.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={**os.environ, **ONE_THREAD, **FORKING},
        # An interrupt of the kernel must not reach it: the ranks are stopped from here.
        start_new_session=True,
    )


class _Fork:
    """The server as a fork of this process, with all that it has imported."""

    def __init__(self, channel: socket.socket, log: IO[bytes]) -> None:
        self._code: int | None = None
        self._pid = os.fork()
        if self._pid == 0:
            self._serve(channel.detach(), log.fileno())

    def _serve(self, channel: int, log: int) -> NoReturn:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(log, number)
        os.dup2(channel, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        os.environ.update(ONE_THREAD)
        serve(3)

    def poll(self) -> int | None:
        """Return the exit code once it has ended."""
        if self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; subprocess.TimeoutExpired if it takes longer than `timeout` seconds."""
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("launch", timeout or 0.0)
            time.sleep(0.005)
        return code

    def kill(self) -> None:
        """End it."""
        if self.poll() is None:
            os.kill(self._pid, signal.SIGKILL)


class _Warm:
    """The server, kept from one launch to the next; one launch at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: Server | None = None

    def fork(self) -> None:
        """Fork the server off this process now: for one that has imported frameworks, but has run nothing in them."""
        self._server = Server(_Fork)

    @contextlib.contextmanager
    def lend(self) -> Iterator[Server]:
        """Lend the server; whatever leaves it in an unknown state, an interrupt for example, ends it and its ranks."""
        with self._lock:
            server, self._server = self._server, None
            if server and not server.usable:
                server.close()
                server = None
            server = server or Server()
            try:
                yield server
            except RankError:
                self._server = server
                raise
            except BaseException:
                server.close()
                raise
            self._server = server


_WARM = _Warm()
warm_server, fork_server = _WARM.lend, _WARM.fork
