"""The notebook's side of the process that forks ranks: started once, kept from one launch to the next."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from multiprocessing.connection import wait

from labkit._launch.errors import RankError
from labkit._launch.worker import EVENT, REQUEST

__all__ = ["ONE_THREAD", "Server", "warm_server"]

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
_START_S = 120.0
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from labkit._launch.worker import serve; serve(int(sys.argv[2]))"
)


class Server:
    """The process that imported torch and forks the ranks; it ends when this end of the socket closes."""

    def __init__(self) -> None:
        if not hasattr(os, "fork"):
            raise OSError("launch: needs a system that can fork processes\nhint: on Windows use WSL 2")
        self._owner = os.getpid()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self.channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _CODE, json.dumps([*map(str, sys.path)]), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={**os.environ, **ONE_THREAD},
                # An interrupt of the kernel must not reach it: the ranks are stopped from here.
                start_new_session=True,
            )
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
        try:
            socket.send_fds(self.channel, [REQUEST.pack(letter, rank)], fds)
        except OSError:
            raise self._lost() from None

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


class _Warm:
    """The server, kept from one launch to the next; one launch at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: Server | None = None

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


warm_server = _Warm().lend
