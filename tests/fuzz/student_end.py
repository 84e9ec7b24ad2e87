"""Plays the student's end of the boundary: answers whatever a test cell asks with what it was told to answer.

A move is one answer: a plain value, an exception, or a lie that no honest process tells, such as an object that claims
to be a float, a tensor without numbers, a handle that does not exist, a call back to a function of the test.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.boundary import cells
from autograder.boundary.end import End
from autograder.boundary.frames import Connection
from autograder.boundary.peer import Peer
from autograder.boundary.trusted import Trusted
from labkit import check
from labkit._values import remotes

__all__ = ["MIME", "Move", "Outcome", "play"]

MIME = "application/vnd.labkit.check+json"
Move = tuple[str, Any]
"""(kind, content): "value", "raise", "ask" (call back, then answer), "raw" (the message as it is).

"returns" and "raises": names stand for functions, and all that these do is this.
"""

_FUNCTION = {"t": "mine", "h": 1, "c": ["builtins.function"]}


@dataclass
class Outcome:
    """What became of a test cell.

    Attributes:
        passed: the titles of the cases that passed; of a cell without cases, its own name if it ended without an error.
        sent: all that the student's process was sent.
    """

    passed: frozenset[str] = frozenset()
    sent: bytearray = field(default_factory=bytearray)


def play(name: str, source: str, given: dict[str, Any], moves: Sequence[Move], *, time_s: float = 10) -> Outcome:
    """Run a test cell against these moves, taken in turn, again and again."""
    here, there = socket.socketpair()
    outcome = Outcome()
    thread = threading.Thread(target=_answer, args=(Connection(there), moves, outcome.sent), daemon=True)
    thread.start()
    tests = Trusted()
    peer = Peer(Connection(here), tests, writable=False, only_when_asked=False)
    check.adopt(tests)
    try:
        found = cells._run(peer, tests, source, End(1, time_s, time_s), given)
    finally:
        remotes.clear()
        for end in (here, there):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        thread.join(5)
    report = found["bundle"].get(MIME)
    if report is not None:
        outcome.passed = frozenset(case["title"] for case in report["cases"] if case["passed"])
    elif found["error"] is None:
        outcome.passed = frozenset([name])
    return outcome


def _answer(connection: Connection, moves: Sequence[Move], sent: bytearray) -> None:
    turn = 0
    with contextlib.suppress(BaseException):
        while True:
            message, block = connection.receive()
            sent += json.dumps(message).encode() + block
            if message.get("k") == "end":
                continue
            kind, content = moves[turn % len(moves)]
            turn += 1
            for reply, data in _replies(kind, content, message):
                connection.send({"cell": message.get("cell"), **reply}, data)


def _replies(kind: str, content: Any, message: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the messages of a move, with their blocks."""
    if kind in ("returns", "raises"):
        kind, content = (
            ("value", _FUNCTION)
            if message.get("op") == "name"
            else ({"returns": "value", "raises": "raise"}[kind], content)
        )
    if kind == "ask" and message.get("k") == "ask":
        handles = [value["h"] for value in _walk(message) if value.get("t") == "mine" and "h" in value]
        on = {"t": "yours", "h": handles[0] if handles else 1}
        operation, arguments = content
        yield {"k": "ask", "op": operation, "on": on, "args": arguments, "opts": []}, b""
    elif kind == "raise":
        name, bases, text = content
        error = {"h": 1, "type": name, "module": "builtins", "bases": bases, "text": text, "args": [text], "line": ""}
        yield {"k": "raise", "error": error}, b""
    elif kind == "raw":
        yield dict(content), b""
    else:
        yield {"k": "reply", "value": content}, struct.pack("<8d", *range(8))


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item)
