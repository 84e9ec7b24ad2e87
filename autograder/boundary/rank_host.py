"""Ranks of a collective that is graded: processes that nothing of the student's has been near before they begin.

This process starts them, with `labkit.launch` as in a notebook, and hands the test a socket to each of them.
The student's kernel is no part of it: it hands over the function, as bytes that only a rank opens, behind its wall. So
what a rank is told, and what it prints, comes to no process that the student's code runs in but to this rank.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autograder.boundary.frames import Carrier, ProcessDied, WireError
from autograder.boundary.peer import Peer
from autograder.boundary.student_ranks import answer_of_rank, waiting
from labkit._launch.launcher import Run, variables
from labkit._launch.pack import pack
from labkit._launch.patience import MOST
from labkit._launch.server import Server, warm_server

__all__ = ["serve"]

_MORE_S = 1.0
"""So much later than the test at its latest the launch gives up."""
_END_S = 2.0
"""How long ranks that were told that they have ended may take to end."""
_CREDENTIALS = struct.Struct("3i")
_MOST_ABOVE = 3
"""How many processes stand between a rank and this one at most: the one that forks ranks."""


def serve(connection: Carrier) -> None:
    """Launch what the test asks for, one launch after the other, until it hangs up."""
    host = _Host(connection)
    host.peer = Peer(connection, host, writable=True, only_when_asked=True)
    with contextlib.suppress(ProcessDied):
        while True:
            message, block = connection.receive()
            if message.get("k") == "ask":  # else it is left over from a launch before
                host.peer.begin(message["cell"])
                host.peer.answer(message, block)


class _Host:
    """See owner.Owner; here the other end may ask for one thing."""

    graphs_stay = True
    fatal: tuple[type[BaseException], ...] = (KeyboardInterrupt, ProcessDied)
    changes_made = None
    changes_heard = None

    def __init__(self, connection: Carrier) -> None:
        self.connection = connection
        self.peer: Peer | None = None

    def before_asking(self, peer: Peer) -> None:
        """Nothing."""

    def place_of(self, peer: Peer, value: Any) -> None:
        """Nowhere."""

    def own_at(self, place: Any, value: Any) -> Any:
        return value

    def name(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        return None

    def find(self, reference: Mapping[str, Any], decode: Callable[[Any], Any]) -> Any:
        raise WireError("nothing has a name here")

    def stand_in(
        self, peer: Peer, handle: int, description: Mapping[str, Any], decode: Callable[[Any], Any], known: Any
    ) -> Any:
        raise WireError("nothing stands for an object here")

    def handle_of(self, value: Any) -> int | None:
        return None

    def describe(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        return {}

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        if operation != "launch" or self.peer is None:
            raise WireError(f"the ranks' process cannot do {operation!r}")
        return _Ranks(self.connection, self.peer, *arguments).run()


class _Ranks:
    """Ranks that answer what a test asks of one function, until it says that they have ended."""

    def __init__(
        self, connection: Carrier, peer: Peer, packed: bytes, size: int, timeout_s: float, numbers: list[int]
    ) -> None:
        """connection, peer: to the test, and who speaks with it. packed: the function, see student_ranks.packed.

        numbers: of the ranks to start: all, or one that is as it would be among all.
        """
        self._connection, self._peer, self._packed = connection, peer, packed
        self._size, self._timeout_s, self._numbers = size, timeout_s, numbers
        self._error: BaseException | None = None
        self._processes: dict[int, int] = {}

    def run(self) -> None:
        """Launch them, and hand them over, until all have gone. Raises what the launch raises."""
        scratch = tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True)
        over, ended = map(waiting, socket.socketpair())
        with scratch as folder, waiting(socket.socket(socket.AF_UNIX)) as door, over, ended:
            place = str(Path(folder, "door"))
            door.bind(place)
            door.listen(len(self._numbers))
            launched = threading.Thread(target=self._launch, args=(place, ended), daemon=True)
            launched.start()
            self._attend(door, over)
            launched.join()
        if self._error is not None:
            raise self._error

    def _launch(self, door: str, ended: socket.socket) -> None:
        try:
            folder = tempfile.TemporaryDirectory(prefix="labkit-", ignore_cleanup_errors=True)
            with folder as place, warm_server() as server:
                run, call = self._begun(server, place, door)
                run.done("none", call)  # what a rank returns is a student's: nothing here looks at it
        except BaseException as error:
            self._error = error
        finally:
            ended.close()

    def _begun(self, server: Server, folder: str, door: str) -> tuple[Run, bytes]:
        """Return the launch, and what it calls."""
        first, limit_s = (self._numbers[0], self._size), MOST * self._timeout_s + _MORE_S
        if len(self._numbers) == self._size:
            run = Run(server, self._size, limit_s, folder, show=_unheard)
            return run, pack("launch", answer_of_rank, (door, self._packed), first, "")
        alone = variables(*first, folder)
        run = Run(server, 1, limit_s, folder, show=_unheard, environment=alone, rank=first[0])
        return run, pack("launch", answer_of_rank, (*first, door, self._packed), (), "")

    def _attend(self, door: socket.socket, over: socket.socket) -> None:
        """Hand over the ranks that come until the launch is over; end them where the test is done, or gives it up."""
        limit_s: float | None = None
        while True:
            heard: list[Any] = [self._connection, door, over]
            ready = select.select(heard, [], [], 0 if self._connection.ready() else limit_s)[0]
            if over in ready:
                return
            if door in ready:
                self._enter(waiting(door.accept()[0]))
            if self._connection.ready():
                limit_s = _END_S
                if self._connection.receive()[0].get("k") != "over":
                    self._kill()
            elif not ready:
                self._kill()

    def _enter(self, stream: socket.socket) -> None:
        """Know a rank by its first byte, and hand it over to the test; nobody else is let in."""
        sent = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        process = _CREDENTIALS.unpack(sent)[0]
        number = stream.recv(1) if _is_below(process) else b""
        if not number or number[0] in self._processes or number[0] not in self._numbers:
            stream.close()
            return
        self._processes[number[0]] = process
        self._connection.hand_over({"rank": number[0], "cell": self._peer.cell}, stream)

    def _kill(self) -> None:
        """End the ranks that have begun: nobody asks them any more."""
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _unheard(rank: int, line: str) -> None:
    """Show nobody what a rank prints: it may hold what a hidden test drew."""


def _is_below(process: int) -> bool:
    """Whether a process was started by this one, or by one that was: on Linux, where others might find the door."""
    for _ in range(_MOST_ABOVE):
        if process == os.getpid():
            return True
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False
