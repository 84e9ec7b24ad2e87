"""One end of the conversation: asks the other for something, and answers what it asks meanwhile.

Messages are strictly nested: while one end waits for an answer, the other may ask, and is answered first. So a
student's function can call a function of the test that called it. Every message carries the number of its test cell;
what is left over from an earlier one is thrown away.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from autograder.boundary.errors import rebuild, report
from autograder.boundary.frames import Connection, WireError
from autograder.boundary.tensors import Leaves
from autograder.boundary.wire import Codec

__all__ = ["Owner", "Peer"]

_MAX_NESTED = 40
_MAX_HANDLES = 200_000


class Owner(Protocol):
    """What differs between the two ends."""

    graphs_stay: bool
    fatal: tuple[type[BaseException], ...]
    """Exceptions that end the conversation instead of being reported."""

    def name(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """Return the JSON by which the other end finds a value of its own in place of this one; None if it cannot."""

    def find(self, reference: Mapping[str, Any], decode: Callable[[Any], Any]) -> Any:
        """Return what such JSON stands for at this end; WireError if the other end may not name it."""

    def stand_in(self, peer: Peer, handle: int, description: Mapping[str, Any]) -> Any:
        """Return what stands for an object of the other end."""

    def handle_of(self, value: Any) -> int | None:
        """Return the handle of such a stand-in; None for everything else."""

    def describe(self, value: Any) -> dict[str, Any]:
        """Return what the other end is told about an object of this end."""

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Do what the other end asks for."""

    def snapshot(self, mutable: list[Any]) -> list[Any]:
        """Return what tells, after `perform`, whether these values were changed."""

    def changes(self, peer: Peer, mutable: list[Any], before: list[Any]) -> dict[str, Any]:
        """Return what the other end is told about changes."""

    def take_changes(self, peer: Peer, sent: list[Any], changes: Any) -> None:
        """Take note of what the other end told."""

    def watched(self, peer: Peer, mutable: list[Any]) -> list[list[int]]:
        """Return place and number of each of these values that the other end shall watch beyond the call."""

    def watch(self, mutable: list[Any], places: Any) -> None:
        """Watch what the other end asks for."""


class Peer:
    """One end of a connection; `ask` is for the code that runs here, `answer` for what comes."""

    def __init__(self, connection: Connection, owner: Owner, *, writable: bool, only_when_asked: bool) -> None:
        """Speak for owner on this connection.

        writable: arrays that come may be changed here. only_when_asked: this end may ask only while it is asked.
        """
        self._connection = connection
        self._owner = owner
        self._writable = writable
        self._only_when_asked = only_when_asked
        self.trusted = not only_when_asked
        self._lock = threading.RLock()
        self.deadline: float | None = None
        self.graphs_stay = owner.graphs_stay
        self.begin(0)

    def begin(self, cell: int) -> None:
        """Forget everything of the cell before; speak of this one."""
        self.cell = cell
        self.leaves = Leaves()
        self._nested = 0
        self._kept: dict[int, Any] = {}
        self._handles: dict[int, int] = {}
        self._stand_ins: dict[int, Any] = {}

    # ----------------------------------------------------------------------------------------------------- conversation
    def ask(
        self,
        operation: str,
        target: Any = None,
        arguments: Iterable[Any] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return what the other end answers; raise what it reports as raised.

        Raises TimeLimit at the deadline, ProcessDied when the other end is gone, WireError when it breaks the rules.
        """
        with self._lock:
            if self._only_when_asked and not self._nested:
                raise RuntimeError("the test that handed this over has moved on")
            codec = Codec(self)
            message = {
                "k": "ask",
                "op": operation,
                "on": codec.encode(target),
                "args": [codec.encode(value) for value in arguments],
                "opts": [[name, codec.encode(value)] for name, value in (options or {}).items()],
            }
            if watched := self._owner.watched(self, codec.mutable):
                message["watch"] = watched
            self._send(message, codec.block)
            while (reply := self.next())[0].get("k") == "ask":
                self.answer(*reply)
            return self._outcome(*reply, codec.mutable)

    def _outcome(self, reply: Mapping[str, Any], block: bytes, sent: list[Any]) -> Any:
        codec = Codec(self, block, writable=self._writable)
        if reply.get("k") == "raise":
            error = rebuild(reply.get("error"), codec.decode, self._kept.get)
        elif reply.get("k") == "reply":
            value, error = codec.decode(reply.get("value")), None
        else:
            raise WireError("an answer that is none")
        if "changes" in reply:
            self._owner.take_changes(self, sent, codec.decode(reply["changes"]))
        if error is not None:
            raise error
        return value

    def next(self) -> tuple[dict[str, Any], bytes]:
        """Return the next message of this cell."""
        while True:
            message, block = self._connection.receive(self.deadline)
            if message.get("cell") == self.cell:
                return message, block

    def answer(self, message: Mapping[str, Any], block: bytes) -> None:
        """Do what a message asks for and send the outcome."""
        codec = Codec(self, block, writable=self._writable)
        out = Codec(self)
        reply: dict[str, Any]
        before: list[Any] = []
        self._nested += 1
        try:
            if self._nested > _MAX_NESTED:
                raise RecursionError(f"the test and the tested code call each other more than {_MAX_NESTED} deep")
            operation, target, arguments, options = self._request(message, codec)
            before = self._owner.snapshot(codec.mutable)
            self._owner.watch(codec.mutable, message.get("watch"))
            value = self._owner.perform(operation, target, arguments, options)
            reply = {"k": "reply", "value": out.encode(value)}
        except self._owner.fatal:
            raise
        except BaseException as error:
            out = Codec(self)
            reply = {"k": "raise", "error": report(error, out.encode, self.keep, discreet=self.trusted)}
        with self._lock:
            self._nested -= 1
            changes = self._owner.changes(self, codec.mutable[: len(before)], before)
            try:
                self._send(reply | ({"changes": out.encode(changes)} if changes else {}), out.block)
            except WireError as error:
                self._send({"k": "raise", "error": report(error, out.encode, self.keep, discreet=self.trusted)}, b"")

    def send(self, kind: str) -> None:
        """Send a message that needs no answer."""
        self._send({"k": kind}, b"")

    def _request(self, message: Mapping[str, Any], codec: Codec) -> tuple[str, Any, list[Any], dict[str, Any]]:
        arguments, options = message.get("args"), message.get("opts")
        if not isinstance(arguments, list) or not isinstance(options, list):
            raise WireError("a request that is none")
        target = codec.decode(message.get("on"))
        values = [codec.decode(value) for value in arguments]
        return str(message.get("op")), target, values, {str(name): codec.decode(value) for name, value in options}

    def _send(self, message: dict[str, Any], block: bytes) -> None:
        self._connection.send(message | {"cell": self.cell}, block, self.deadline)

    # ------------------------------------------------------------------------------------------------------- references
    def keep(self, value: Any) -> int:
        """Return the number under which the other end may speak of this object until the cell ends."""
        handle = self._handles.get(id(value))
        if handle is None:
            handle = len(self._kept) + 1
            if handle > _MAX_HANDLES:
                raise WireError(f"more than {_MAX_HANDLES:,} objects in one test")
            self._kept[handle] = value
            self._handles[id(value)] = handle
        return handle

    def refer(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """See wire.References."""
        theirs = self._owner.handle_of(value)
        if theirs is not None:
            return {"t": "yours", "h": theirs}
        named = self._owner.name(value, encode)
        return named or {"t": "mine", "h": self.keep(value), **self._owner.describe(value)}

    def resolve(self, reference: dict[str, Any], decode: Callable[[Any], Any]) -> Any:
        """See wire.References."""
        kind, handle = reference.get("t"), reference.get("h")
        if kind == "yours":
            if type(handle) is not int or handle not in self._kept:
                raise WireError("a handle that does not exist")
            return self._kept[handle]
        if kind == "mine":
            if type(handle) is not int:
                raise WireError("a handle that is none")
            if handle not in self._stand_ins:
                if len(self._stand_ins) >= _MAX_HANDLES:
                    raise WireError(f"more than {_MAX_HANDLES:,} objects in one test")
                self._stand_ins[handle] = self._owner.stand_in(self, handle, reference)
            return self._stand_ins[handle]
        return self._owner.find(reference, decode)
