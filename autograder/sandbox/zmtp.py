"""ZeroMQ's wire protocol, as far as a client needs it: ZMTP 3.0 without encryption (rfc.zeromq.org/spec/23).

libzmq itself bounds a part of a message, and neither how many parts there are nor what they come to: one message fills
the memory of whoever receives it. Here nothing is kept beyond one message's bound.

A connection begins with a greeting of each side and a READY command of each side. Then come messages, of one frame for
each part. A frame is a byte of flags, the size in 1 or 8 bytes, and the content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["GREETING", "SUBSCRIPTION", "Decoder", "Unreadable", "message", "ready"]

_SIGNATURE = (b"\xff", b"\x7f")  # at 0 and 9, with eight bytes between them that mean nothing
_MECHANISM = b"NULL".ljust(20, b"\0")
GREETING = _SIGNATURE[0] + bytes(8) + _SIGNATURE[1] + b"\x03\x00" + _MECHANISM + bytes(32)
_MORE, _LONG, _COMMAND = 1, 2, 4
_READY = b"\x05READY"
# A frame's flags and size.
_MOST_HEAD_BYTES = 9
# Jupyter's messages have eight, and one for each buffer of a widget.
_MOST_PARTS = 256
_MOST_COMMAND_BYTES = 512


class Unreadable(Exception):
    """What came is not of the protocol, or more than is taken; the connection is of no use any more."""


class Decoder:
    """Cuts the bytes that come into messages. It never holds more than `most_bytes`, and a few.

    Attributes:
        ready: whether the other side has said that it is ready; before that it may be sent no message.
    """

    def __init__(self, most_bytes: int) -> None:
        self.ready = False
        self._greeted = False
        self._most_bytes = most_bytes
        self._held = bytearray()
        self._next = 0
        """Where the first frame begins that has not been looked at."""
        self._parts: list[slice] = []
        """Of the message that began to come."""

    @property
    def room(self) -> int:
        """How many more bytes may be fed."""
        return self._most_bytes + _MOST_HEAD_BYTES - len(self._held)

    def feed(self, chunk: bytes) -> None:
        """Add what came."""
        self._held += chunk

    def shake_hands(self) -> bool:
        """Read the greeting and the first command, as far as they have come; return whether the other side is ready."""
        if not self._greeted:
            self._greet()
        if self._greeted and not self.ready and (frame := self._frame()):
            self._command(*frame)
        return self.ready

    def take(self) -> list[bytes] | None:
        """Return the next message, None when it has not come in full. Raises Unreadable."""
        if not self.shake_hands():
            return None
        while frame := self._frame():
            flags, content = frame
            if flags & _COMMAND:
                self._command(flags, content)
                continue
            self._parts.append(content)
            self._next = content.stop
            if len(self._parts) > _MOST_PARTS:
                raise Unreadable(f"a message of more than {_MOST_PARTS} parts")
            if not flags & _MORE:
                return self._whole()
        return None

    def _whole(self) -> list[bytes]:
        parts = [bytes(self._held[part]) for part in self._parts]
        self._parts = []
        self._drop(self._next)
        return parts

    def _greet(self) -> None:
        if len(self._held) < len(GREETING):
            return
        greeting = bytes(self._held[: len(GREETING)])
        if (greeting[:1], greeting[9:10]) != _SIGNATURE or greeting[10] < 3 or greeting[12:32] != _MECHANISM:
            raise Unreadable("no greeting of ZMTP 3 without encryption")
        self._drop(len(GREETING))
        self._greeted = True

    def _frame(self) -> tuple[int, slice] | None:
        """Return flags and content of the next frame, None when it has not come in full."""
        if self._next >= self._most_bytes:
            raise Unreadable(f"a message of more than {self._most_bytes} bytes")
        head = bytes(self._held[self._next : self._next + _MOST_HEAD_BYTES])
        if not head:
            return None
        flags = head[0]
        if flags & ~(_MORE | _LONG | _COMMAND):
            raise Unreadable(f"a frame with flags {flags}")
        size_bytes = 8 if flags & _LONG else 1
        if len(head) <= size_bytes:
            return None
        start = self._next + 1 + size_bytes
        content = slice(start, start + int.from_bytes(head[1 : 1 + size_bytes], "big"))
        if content.stop > self._most_bytes:
            raise Unreadable(f"a message of more than {self._most_bytes} bytes")
        return (flags, content) if content.stop <= len(self._held) else None

    def _command(self, flags: int, content: slice) -> None:
        """Note that the other side is ready. What else it may command concerns nobody here."""
        misplaced = self._parts or not (self.ready or flags & _COMMAND)
        if misplaced or content.stop > _MOST_COMMAND_BYTES:
            raise Unreadable("invalid command")
        if not self.ready and not self._held[content].startswith(_READY):
            raise Unreadable("no command READY")
        self.ready = True
        self._drop(content.stop)

    def _drop(self, count: int) -> None:
        del self._held[:count]
        self._next = 0


def ready(properties: Mapping[str, bytes]) -> bytes:
    """Return the command that this side is ready, with what the other one should know of it."""
    pairs = [
        b"".join([bytes([len(name)]), name.encode(), len(value).to_bytes(4, "big"), value])
        for name, value in properties.items()
    ]
    return _framed(_COMMAND, b"".join([_READY, *pairs]))


def message(parts: Sequence[bytes]) -> bytes:
    """Return a message's bytes."""
    last = len(parts) - 1
    return b"".join(_framed(_MORE if number < last else 0, part) for number, part in enumerate(parts))


def _framed(flags: int, content: bytes) -> bytes:
    size = len(content)
    head = bytes([flags, size]) if size < 256 else bytes([flags | _LONG]) + size.to_bytes(8, "big")
    return head + content


SUBSCRIPTION = message([b"\x01"])
"""What a subscriber sends to be given every message."""
