"""One end of the conversation: asks the other for something, and answers what it asks meanwhile.

Messages are strictly nested: while one end waits for an answer, the other may ask, and is answered first. So a
student's function can call a function of the test that called it. Every message carries the number of its test cell;
what is left over from an earlier one is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autograder.boundary.exceptions import CANNOT_GO, outside_its_protocol, rebuild, report
from autograder.boundary.frames import Connection, ProcessDied, WireError
from autograder.boundary.lengths import Lengths
from autograder.boundary.mirror import Mirror
from autograder.boundary.operations import LEAVING, ONLY_LOOKING
from autograder.boundary.owner import Owner
from autograder.boundary.tensors import Leaves
from autograder.boundary.turns import InTurn
from autograder.boundary.wire import Codec

__all__ = ["Peer"]

_MAX_NESTED, _MAX_HANDLES = 40, 200_000
_WITH_ITEMS = {bytes, frozenset, range, str, tuple}


class Peer:
    """One end of a connection; `ask` is for the code that runs here, `answer` for what comes."""

    def __init__(self, connection: Connection, owner: Owner, *, writable: bool, only_when_asked: bool) -> None:
        """Speak for owner on this connection.

        writable: arrays that come may be changed here. only_when_asked: this end may ask only while it is asked.
        """
        self._owner = owner
        self._writable = writable
        self._only_when_asked = only_when_asked
        self.trusted = not only_when_asked
        self.turn = self.done = 0
        """How often the other end has done something that may have changed its objects; and something meant to."""
        self.operators = False
        """Whether the test says that operators of the student's classes are what it tests."""
        self._lock = InTurn()
        self.aside: Callable[[dict[str, Any]], None] | None = None
        """Takes a message of any cell that says that a rank has come; see ranks."""
        self.connection = connection
        self.deadline: float | None = None
        self.graphs_stay = owner.graphs_stay
        self._last = 0
        """The last handle that was given out."""
        self._kept: dict[int, Any] = {}
        self._handles: dict[int, int] = {}
        self._stand_ins: dict[int, Any] = {}
        self.begin(0)

    def begin(self, cell: int, *, holds: bool = False, mirrors: bool = False) -> None:
        """Forget everything of the cell before; speak of this one.

        holds: but for the objects of the student's, which the tests before have left something of. mirrors: what both
        ends have is one object, as far as can be.
        """
        self.cell = cell
        self.mirror = Mirror(trusted=self.trusted) if mirrors else None
        self.leaves = Leaves()
        self.operators = self.refused = self.empty = self.hashed = self.withheld = False
        """Whether this end has refused what one process does, got nothing, hashed an object as itself, hid a text."""
        self.believed: set[str] = set()  # what objects were asked that only their class knows
        self._failed: AssertionError | None = None  # what the test's function asserted in vain, called from there
        self.gone = False
        """Whether the other end answers no more: it was interrupted."""
        self._nested = self.asked = 0
        self.lengths = Lengths()
        if self.trusted or not holds:
            self._kept.clear()
            self._handles.clear()
        if not (self.trusted and holds):
            self._stand_ins.clear()

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
            self._owner.before_asking(self)
            self._expect_somebody()
            if self._only_when_asked and not self._nested:
                raise RuntimeError("the test that handed this over has moved on")
            codec, self.asked = Codec(self), self.asked + 1
            message = {
                "k": "ask",
                "op": operation,
                "on": codec.encode(target),
                "args": [codec.encode(value) for value in arguments],
                "opts": [[name, codec.encode(value)] for name, value in (options or {}).items()],
                "n": (number := self.asked),
            }
            if heard := self._owner.changes_heard:
                heard.sent(self, number, codec.mutable, codec.size)
                message |= {"watch": heard.watched(self, codec.mutable), "forget": heard.gone(self)}
            if made := self._owner.changes_made:
                message["rewritten"] = [*made.rewritten()]
                made.note(-number, [], codec.mutable, 0, codec.size)
            self._send(message | (self.mirror.told(codec, number, answer=False) if self.mirror else {}), codec.block)
            self.turn, self.done = self.turn + (operation not in ONLY_LOOKING), self.done + (operation not in LEAVING)
            if operation not in LEAVING:
                self.lengths.clear()
            while (reply := self.next())[0].get("k") == "ask" or self._is_late(reply[0], number):
                if reply[0].get("k") == "ask":
                    self.answer(*reply)
            try:
                return self._outcome(operation, number, *reply, codec.mutable)
            finally:
                self._expect_no_failure()

    def _is_late(self, reply: Mapping[str, Any], number: int) -> bool:
        """Whether this answers an earlier question, whose asker has given up: a test may set a time of its own."""
        return type(reply.get("n")) is int and reply["n"] < number

    def _expect_no_failure(self) -> None:
        """Raise what a function of the test's asserted in vain: code that called it may have passed over it."""
        failed, self._failed = (self._failed, None) if not self._nested else (None, self._failed)
        if failed is not None:
            raise failed

    def _outcome(self, operation: str, number: int, reply: Mapping[str, Any], block: bytes, sent: list[Any]) -> Any:
        codec, heard = self._incoming(block), self._owner.changes_heard
        if reply.get("k") == "raise":
            error = rebuild(reply.get("error"), codec.decode, self._kept.get)
        elif reply.get("k") == "reply":
            value, error = codec.decode(reply.get("value")), None
            self.empty |= type(value) in _WITH_ITEMS and not len(value)
            if heard:
                heard.came(self, number, codec.mutable, codec.size)
        else:
            raise WireError("invalid answer")
        if made := self._owner.changes_made:
            made.given(number, codec.mutable, codec.size)
        if heard and "rewritten" in reply:
            heard.told(self, reply["rewritten"])
        if heard and "changes" in reply:
            heard.take(self, sent, codec.decode(reply["changes"]))
        if self.mirror:
            self.mirror.hear(reply, codec, number, answer=True)
        if error is not None:
            raise self._within_its_protocol(error, operation) if self.trusted else error
        return value

    def _within_its_protocol(self, error: Exception, operation: str) -> Exception:
        """Return the error to raise here, and note whether it is another one than in one process."""
        found = outside_its_protocol(error, operation)
        self.refused = self.refused or found is not error or str(error).startswith(CANNOT_GO)
        return found

    def next(self) -> tuple[dict[str, Any], bytes]:
        """Return the next message of this cell; those that bring ranks are put aside."""
        while True:
            message, block = self.connection.receive(self.deadline)
            if "rank" in message:
                if self.aside is not None:
                    self.aside(message)
            elif message.get("cell") == self.cell:
                self.gone = self.trusted and message.get("k") == "gone"
                self._expect_somebody()
                return message, block

    def _expect_somebody(self) -> None:
        if self.gone:
            raise ProcessDied("KeyboardInterrupt in the notebook's process: it answers no more in this test")

    def answer(self, message: Mapping[str, Any], block: bytes) -> None:
        """Do what a message asks for and send the outcome."""
        codec, out = self._incoming(block), Codec(self)
        reply: dict[str, Any]
        made, before, number = self._owner.changes_made, [], {"n": message.get("n")}
        self._nested += 1
        try:
            if self._nested > _MAX_NESTED:
                raise RecursionError(f"the test and the tested code call each other more than {_MAX_NESTED} deep")
            operation, target, arguments, options = self._request(message, codec)
            before = self._noted(message, codec)
            value = self._owner.perform(operation, target, arguments, options)
            reply = {"k": "reply", "value": out.encode(value)}
        except self._owner.fatal:
            raise
        except BaseException as error:
            self.withheld |= self.trusted and bool(error.args)
            self._failed = self._failed or (error if self.trusted and isinstance(error, AssertionError) else None)
            out = Codec(self)
            reply = {"k": "raise", "error": report(error, out.encode, self.keep, discreet=self.trusted)}
        with self._lock:
            self._nested -= 1
            self.turn += 1  # the other end goes on, and may change what it has given
            changes = made.changes(self, codec.mutable[: len(before)], before) if made else {}
            if made:
                reply |= {"rewritten": found} if (found := [*made.rewritten()]) else {}
                looked = None if changes.get("values") or len(before) < len(codec.mutable) else before
                made.note(message.get("n"), codec.mutable, out.mutable, codec.size, out.size, looked)
            try:
                told = {"changes": out.encode(changes)} if changes else {}
                if self.mirror and (reply["k"] == "reply" or not out.mutable):
                    told |= self.mirror.told(out, message.get("n"), answer=True)
                self._send(number | reply | told, out.block)
            except WireError as error:
                said = reply.get("error") or report(error, out.encode, self.keep, discreet=self.trusted)
                said["args"] = None  # an exception goes without what is too large in it
                self._send({"k": "raise", "error": said} | number, b"")

    def _noted(self, message: Mapping[str, Any], codec: Codec) -> list[Any]:
        """Note what came along with a question; return how it looks, at the end that tells what becomes of it."""
        made, heard, number = self._owner.changes_made, self._owner.changes_heard, message.get("n")
        self.mirror = self.mirror or (Mirror(trusted=False) if message.get("mirrors") and not self.trusted else None)
        if self.mirror:
            self.mirror.hear(message, codec, number, answer=False)
        if heard and type(number) is int and number > 0:
            heard.told(self, message.get("rewritten"))
            heard.came(self, -number, codec.mutable, codec.size)
        if not made:
            return []
        before = made.snapshot(codec.mutable)
        made.watch(codec.mutable, message.get("watch"))
        made.forget(message.get("forget"))
        return before

    def send(self, kind: str, **more: Any) -> None:
        """Send a message that needs no answer."""
        self._send({"k": kind, **more}, b"")

    def _request(self, message: Mapping[str, Any], codec: Codec) -> tuple[str, Any, list[Any], dict[str, Any]]:
        arguments, options = message.get("args"), message.get("opts")
        if not isinstance(arguments, list) or not isinstance(options, list):
            raise WireError("invalid request")
        on = message.get("on")
        if self.trusted and not (isinstance(on, dict) and on.get("t") == "yours"):
            # A value that came from there is none of the test's: `str(x)` or a class's call would tell what x holds.
            raise WireError("an operation on what the test did not hand over")
        target = codec.decode(on)
        values = [codec.decode(value) for value in arguments]
        return str(message.get("op")), target, values, {str(name): codec.decode(value) for name, value in options}

    def _incoming(self, block: bytes) -> Codec:
        return Codec(self, block, writable=self._writable or self.mirror is not None)

    def _send(self, message: dict[str, Any], block: bytes) -> None:
        self.connection.send(message | {"cell": self.cell}, block, self.deadline)

    # ------------------------------------------------------------------------------------------------------- references
    def place_of(self, value: Any) -> tuple[Any, ...] | None:
        """See wire.References."""
        return self.mirror.place_of(value) if self.mirror else self._owner.place_of(self, value)

    def own_at(self, place: Any, value: Any) -> Any:
        """See wire.References."""
        return self.mirror.updated(place, value) if self.mirror else self._owner.own_at(place, value)

    def keep(self, value: Any) -> int:
        """Return the number under which the other end may speak of this object until the cell ends."""
        handle = self._handles.get(id(value))
        if handle is None:
            if len(self._kept) >= _MAX_HANDLES:
                raise WireError(f"more than {_MAX_HANDLES:,} objects in one test")
            self._last = handle = self._last + 1  # never one that a cell before has known as another's
            self._kept[handle] = value
            self._handles[id(value)] = handle
        return handle

    def refer(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """See wire.References."""
        theirs = self._owner.handle_of(value)
        if theirs is not None:
            return {"t": "yours", "h": theirs}
        named = self._owner.name(value, encode)
        return named or {"t": "mine", "h": self.keep(value), **self._owner.describe(value, encode)}

    def resolve(self, reference: dict[str, Any], decode: Callable[[Any], Any]) -> Any:
        """See wire.References."""
        kind, handle = reference.get("t"), reference.get("h")
        if kind == "yours":
            if type(handle) is not int or handle not in self._kept:
                raise WireError("a handle that does not exist")
            return self._kept[handle]
        if kind == "mine":
            if type(handle) is not int:
                raise WireError("invalid handle")
            known = self._stand_ins.get(handle)
            if known is None and len(self._stand_ins) >= _MAX_HANDLES:
                raise WireError(f"more than {_MAX_HANDLES:,} objects in one test")
            self._stand_ins[handle] = self._owner.stand_in(self, handle, reference, decode, known)
            return self._stand_ins[handle]
        return self._owner.find(reference, decode)
