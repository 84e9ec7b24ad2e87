"""The student's end of a collective's ranks: processes that call the student's function, as in a notebook.

`labkit.launch` starts them. What they say to each other goes through the test (see ranks): this process carries it
between them and the socket to the test.
"""

from __future__ import annotations

import contextlib
import pickle
import select
import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.boundary.frames import Connection, ProcessDied
from autograder.boundary.peer import Peer
from labkit._launch.confinement import write_nothing
from labkit._launch.patience import MOST

__all__ = ["Ranks", "answer_until_end"]

_CELL = 1
"""The number of the only conversation that a rank has."""
_MORE_S = 1.0
"""So much later than the test at its latest the launch gives up."""


class Ranks:
    """Ranks that answer what a test asks of one function, until it says that they have ended."""

    def __init__(self, peer: Peer, make_owner: Callable[[], Any], fn: Any, size: int, timeout_s: float) -> None:
        """peer: who speaks with the test. make_owner: makes what answers in a rank, where fn is named "fn"."""
        self._peer, self._make_owner, self._fn = peer, make_owner, fn
        self._size, self._timeout_s = size, timeout_s
        self._error: BaseException | None = None
        self._ranks: dict[int, Connection] = {}
        self._early: list[tuple[dict[str, Any], bytes]] = []

    def run(self) -> None:
        """Launch them, and carry messages until all have gone. Raises what the launch raises."""
        scratch = tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True)
        over, ended = map(_waiting, socket.socketpair())
        with scratch as folder, _unix_socket() as door, over, ended:
            place = str(Path(folder, "door"))
            door.bind(place)
            door.listen(self._size)
            launched = threading.Thread(target=self._launch, args=(place, ended), daemon=True)
            launched.start()
            self._peer.aside = self._take
            try:
                self._carry(door, over)
            finally:
                self._peer.aside = None
                for rank in self._ranks.values():
                    rank.close()
            launched.join()
        if self._error is not None:
            raise self._error

    def _launch(self, door: str, ended: socket.socket) -> None:
        import cloudpickle

        from labkit import launch

        try:
            packed = cloudpickle.dumps((self._make_owner, self._fn))
            launch(_answer, self._size, door, packed, timeout_s=MOST * self._timeout_s + _MORE_S, backend="none")
        except BaseException as error:
            self._error = error
        finally:
            ended.close()

    def _carry(self, door: socket.socket, over: socket.socket) -> None:
        """Carry what comes from the test to the ranks, and what they say to the test, until the launch is over."""
        while True:
            heard: list[Any] = [self._peer.connection, door, over, *self._ranks.values()]
            ready = select.select(heard, [], [], None)[0]
            if over in ready or not self._peer.carries():
                return
            if door in ready:
                self._enter(_waiting(door.accept()[0]))
            for rank, connection in list(self._ranks.items()):
                if connection in ready:
                    self._forward(rank, connection)

    def _enter(self, stream: socket.socket) -> None:
        """Know a rank by its first byte, and hand it what came for it before."""
        number = stream.recv(1)
        self._ranks[number[0]] = Connection(stream)
        early, self._early = self._early, []
        for message, block in early:
            self._take(message, block)

    def _take(self, message: dict[str, Any], block: bytes) -> None:
        """Hand a message of the test to its rank; hang up where that says that it has ended."""
        rank = self._ranks.get(message["rank"])
        if rank is None:
            self._early.append((message, block))
        elif message["frame"].get("k") == "end":
            self._ranks.pop(message["rank"]).close()
        else:
            with contextlib.suppress(ProcessDied):  # the launch will know
                rank.send(message["frame"], block)

    def _forward(self, rank: int, connection: Connection) -> None:
        try:
            while connection.ready():
                self._peer.send_aside(rank, *connection.receive())
        except ProcessDied:
            self._ranks.pop(rank).close()


def _answer(rank: int, world_size: int, door: str, packed: bytes) -> None:
    """Be one rank: answer until the test hangs up.

    What ranks tell each other goes through the test, which counts it. What is unpacked may be a student's own code
    (`__reduce__`), so the wall stands before.
    """
    with _unix_socket() as stream:
        stream.connect(door)
        stream.sendall(bytes([rank]))
        write_nothing()
        make_owner, fn = pickle.loads(packed)
        owner = make_owner()
        owner.begin({"fn": fn})
        peer = Peer(Connection(stream), owner, writable=True, only_when_asked=True)
        peer.begin(_CELL)
        peer.send("here")
        answer_until_end(peer)


def _unix_socket() -> socket.socket:
    return _waiting(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))


def _waiting(stream: socket.socket) -> socket.socket:
    """Return a socket that waits as long as it takes, whatever the student's code has made the default."""
    stream.settimeout(None)
    return stream


def answer_until_end(peer: Peer) -> bool:
    """Answer what the test asks until it ends, or hangs up; return whether those below go on with objects of its."""
    with contextlib.suppress(ProcessDied, KeyboardInterrupt):
        while (message := peer.next())[0].get("k") != "end":
            peer.answer(*message)
        return message[0].get("holds") is True
    return False
