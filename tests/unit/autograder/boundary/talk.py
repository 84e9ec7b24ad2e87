"""A test cell and the code that it tests in two threads of one process, as the two processes talk when grading."""

from __future__ import annotations

import contextlib
import linecache
import socket
import textwrap
import threading
from typing import Any

from autograder.boundary import cells
from autograder.boundary import student as agent
from autograder.boundary.end import End
from autograder.boundary.frames import Carrier, Connection
from autograder.boundary.given import left_by_test
from autograder.boundary.given_again import made_again
from autograder.boundary.left import Left
from autograder.boundary.peer import Peer
from autograder.boundary.rank_host import serve as serve_ranks
from autograder.boundary.ranks import Host
from autograder.boundary.student_ranks import answer_until_end
from autograder.boundary.trusted import Trusted

__all__ = ["MIME", "Talk"]

MIME = "application/vnd.labkit.check+json"


class Talk:
    """A student's namespace, and test cells that are run against it."""

    def __init__(self) -> None:
        ends = socket.socketpair()
        self.sockets = list(ends)
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.owner = agent.Agent()
        self.student = Peer(Connection(ends[0]), self.owner, writable=True, only_when_asked=True)
        self.tests = Trusted()
        self.peer = Peer(Connection(ends[1]), self.tests, writable=False, only_when_asked=False)
        hosts = socket.socketpair()
        self.sockets += hosts
        threading.Thread(target=_serve_ranks, args=(hosts[0],), daemon=True).start()
        self.host = Host(Carrier(hosts[1]))
        self.cell = 0
        self.locked: list[list[str]] = []
        """Imports and functions of each locked cell, as statements."""
        self.heard: list[tuple[str, list[Any]]] = []
        """What the student's process was asked for, and what it was given to do so."""
        self.perform = self.owner.perform
        self.owner.perform = self._heard  # type: ignore[method-assign]

    def code(self, source: str) -> None:
        """Run code of the student's."""
        name, text = f"<cell {len(linecache.cache)}>", textwrap.dedent(source)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), self.namespace)

    def test(
        self, source: str, *, time_s: float = 5, given: dict[str, Any] | None = None, left: Left | None = None
    ) -> dict[str, Any]:
        """Run a test cell, with an agent in a second thread. left: of the tests before; told what this one binds."""
        self.heard.clear()
        self.cell += 1
        thread = threading.Thread(target=self._serve, args=(self.cell,))
        thread.start()
        end = End(self.cell, time_s, time_s)
        source = textwrap.dedent(source).strip()
        result = cells._run(self.peer, self.tests, source, end, given, left, left_by_test(source), self.host)
        thread.join(5)
        return result

    def value(self, source: str, *, time_s: float = 20) -> str:
        """Return the text of the test's last value; fail if it raised."""
        result = self.test(source, time_s=time_s)
        assert result["error"] is None, result["error"]
        return str(result["bundle"].get("text/plain"))

    def cases(self, source: str, *, time_s: float = 5) -> dict[str, Any]:
        """Return the cases of a test by their titles."""
        result = self.test(
            f"from labkit import check\n{textwrap.dedent(source).strip()}\ncheck.score(1)", time_s=time_s
        )
        assert result["error"] is None, result["error"]
        return {case["title"]: case for case in result["bundle"][MIME]["cases"]}

    def given(self) -> str:
        """Return all that the student's process was given in the last test, as text."""
        return repr([arguments for _, arguments in self.heard])

    def _heard(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        self.heard.append((operation, [*arguments, *options.values()]))
        return self.perform(operation, target, arguments, options)

    def _serve(self, cell: int) -> None:
        self.owner.begin(self.namespace, made_again(self.namespace, self.locked))
        self.student.begin(cell, holds=True)
        holds = False
        with contextlib.suppress(BaseException):
            holds = answer_until_end(self.student)
        self.student.begin(0, holds=holds)


def _serve_ranks(stream: socket.socket) -> None:
    with contextlib.suppress(OSError):  # a test closes both ends
        serve_ranks(Carrier(stream))
