"""The grader's ends of a kernel's channels, in place of ZeroMQ's sockets: what they keep is bounded.

A kernel is a student's process and may send anything. Behind a socket of ZeroMQ a thread reads what comes whether or
not anybody asks for it, and keeps any number of parts in up to a thousand messages. Here a channel is read when it is
asked for a message, and what has not been read stays in the kernel's own process. One message is held at a time, and is
weighed before it is made into objects.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import re
import select
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zmq

from autograder.sandbox import rights, zmtp

__all__ = ["Channel", "Link", "OutputChannel"]

_SEND_S = 15.0
"""How long the kernel may take to read what it is sent."""
_AGAIN_S = 0.05
_CHUNK_BYTES = 1 << 16
_GREETING_BYTES = 1 << 10
_MOST_BYTES = 24 << 20
"""Of one message. The grader keeps less output than that; the pictures of an animation are the largest that is."""
_MOST_COST_BYTES = 100 << 20
"""What one message may take while it is read."""
_COPIES = 4  # the message, its text, the text's strings, and those as they are counted
_CHEAP_BYTES = 1 << 16
_MARKS = (b",", b":", b"[", b"{")
_OBJECT_BYTES = 64
_WIDE = re.compile(rb"[^\x00-\x7f]|\\u(?!00)")
"""Characters for which Python may store each character of the text in four bytes."""
_SIGNED_PARTS = 5
_MOST_SIGNATURE_BYTES = 128  # it is kept, so that no message comes twice


class Link:
    """A connection to one of a kernel's sockets. One that the kernel has closed is made again when it is used.

    It has what jupyter_client's Session wants of a socket.
    """

    def __init__(self, path: Path, kind: str, identity: bytes = b"") -> None:
        """Hold the socket's path; nothing is connected yet. kind: DEALER, or SUB to be given every message."""
        self._path = path
        self._first = zmtp.SUBSCRIPTION if kind == "SUB" else b""
        self._hello = zmtp.GREETING + zmtp.ready({"Socket-Type": kind.encode(), "Identity": identity})
        self._stream: socket.socket | None = None
        self._decoder = zmtp.Decoder(_MOST_BYTES)
        self._refuses = True
        self._ended = False

    def connect(self) -> bool:
        """Connect, if need be; return whether there is a connection."""
        if self._stream is not None:
            return True
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        refuses = rights.refuse(stream)  # before the kernel can send any
        try:
            stream.connect(str(self._path))
            stream.send(self._hello)  # it is short, and the buffer empty
        except OSError:  # nobody listens any more, or the queue is full
            stream.close()
            return False
        self._stream, self._refuses, self._ended = stream, refuses, False
        self._decoder = zmtp.Decoder(_MOST_BYTES)
        return True

    def close(self, linger: int | None = None) -> None:
        """Close the connection, with all that was not read. Safe to call twice."""
        self._close()

    def _close(self, held: Sequence[int] = ()) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        self._decoder = zmtp.Decoder(_MOST_BYTES)
        if self._refuses:
            stream.close()
        else:
            rights.close(stream, held)

    def send_multipart(self, parts: Sequence[bytes], **_options: Any) -> None:
        """Send a message; it is lost if the kernel has ended, which is noticed by other means.

        Raises zmq.Again when the kernel does not read it in time, or does not greet as it should.
        """
        deadline = time.monotonic() + _SEND_S
        try:
            while self.connect() and not self.is_ready():
                self._await(select.POLLIN, deadline)
        except zmtp.Unreadable as error:
            self.close()
            raise zmq.Again from error
        self._write(zmtp.message(parts), deadline)

    def is_ready(self) -> bool:
        """Whether the kernel can be sent messages by now. Raises Unreadable."""
        if self.connect() and not self._decoder.ready:
            self._read(_GREETING_BYTES)
            if self._decoder.shake_hands():
                self._write(self._first, time.monotonic() + _SEND_S)
            elif self._ended:
                self.close()
        return self._decoder.ready

    def receive(self) -> list[bytes] | None:
        """Return the next message, if there is one. Raises Unreadable."""
        if not self.is_ready():
            return None
        while (room := self._decoder.room) > 0 and self._read(min(room, _CHUNK_BYTES)):
            pass
        message = self._decoder.take()
        if message is None and self._ended:
            self.close()
        return message

    async def readable(self, timeout_s: float | None) -> None:
        """Wait until there is more to read, at most so long."""
        if self._stream is None:
            await asyncio.sleep(_AGAIN_S if timeout_s is None else min(_AGAIN_S, timeout_s))
            return
        loop, descriptor, more = asyncio.get_running_loop(), self._stream.fileno(), asyncio.Event()
        loop.add_reader(descriptor, more.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await more.wait()
        finally:
            loop.remove_reader(descriptor)

    def _read(self, most_bytes: int) -> bool:
        """Read once; return whether there was anything."""
        if self._stream is None or self._ended:
            return False
        held: list[int] = []
        try:
            if self._refuses:
                chunk = self._stream.recv(most_bytes)
            else:
                chunk, held = rights.read(self._stream, most_bytes)
        except BlockingIOError:
            return False
        except ConnectionError:
            chunk = b""
        if held:
            self._close(held)
            raise zmtp.Unreadable("descriptors")
        self._ended = not chunk
        self._decoder.feed(chunk)
        return bool(chunk)

    def _write(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        while rest and self._stream is not None:
            try:
                rest = rest[self._stream.send(rest) :]
            except BlockingIOError:
                self._await(select.POLLOUT, deadline)
            except ConnectionError:
                self.close()

    def _await(self, event: int, deadline: float) -> None:
        if self._stream is None:
            return
        waiting = select.poll()
        waiting.register(self._stream, event)
        left_s = deadline - time.monotonic()
        if left_s <= 0 or not waiting.poll(left_s * 1000):
            self.close()  # half a message may have gone: nothing can follow it
            raise zmq.Again


class Channel:
    """One channel, as jupyter_client and nbclient use it."""

    def __init__(self, link: Link, session: Any, loop: Any = None) -> None:
        self._link = link
        self._session = session
        self._alive = False

    def start(self) -> None:
        """Connect: what the kernel sends from now on is there to be read."""
        self._alive = True
        self._link.connect()

    def stop(self) -> None:
        """Close the connection. Safe to call twice."""
        self._alive = False
        self._link.close()

    close = stop

    def is_alive(self) -> bool:
        """Whether it was started and not stopped."""
        return self._alive

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, as Link.send_multipart does."""
        self._session.send(self._link, message)

    async def is_open(self, timeout_s: float) -> bool:
        """Whether the kernel greets back in time."""
        deadline = time.monotonic() + timeout_s
        while not self._link.is_ready():
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return False
            await self._link.readable(left_s)
        return True

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:
        """Return the next message.

        Raises queue.Empty when none comes in timeout seconds, Unreadable when what comes is too much, and what
        jupyter_client raises for other messages than its own.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            await asyncio.sleep(0)  # where messages come without end, others must have their turn
            if (parts := self._next()) is not None:
                message: dict[str, Any] = self._session.deserialize(parts)
                return message
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                raise queue.Empty
            await self._link.readable(left_s)

    def _next(self) -> list[bytes] | None:
        try:
            message = self._link.receive()
            return None if message is None else self._weighed(message)
        except zmtp.Unreadable:
            self._link.close()
            raise

    def _weighed(self, message: list[bytes]) -> list[bytes]:
        """Return what follows the address, if it does not take too much to read; else raise Unreadable."""
        parts: list[bytes] = self._session.feed_identities(message)[1]
        if len(parts[0]) > _MOST_SIGNATURE_BYTES:
            raise zmtp.Unreadable("invalid signature")
        if sum(map(_cost, parts[:_SIGNED_PARTS])) + sum(map(len, parts[_SIGNED_PARTS:])) > _MOST_COST_BYTES:
            raise zmtp.Unreadable("a message of too many values")
        return parts


class OutputChannel(Channel):
    """The channel of outputs: after a message that is too much, those that come once the kernel is connected again.

    An honest cell may show too much, and the next one something of use. That the rest of a cell's messages is missing
    is noticed, as it is where ZeroMQ drops what comes too fast.
    """

    def _next(self) -> list[bytes] | None:
        with contextlib.suppress(zmtp.Unreadable):
            return super()._next()
        return None


def _cost(part: bytes) -> int:
    """Return at most how many bytes a JSON text takes while it is made into objects."""
    if len(part) < _CHEAP_BYTES:
        return len(part)
    width = 4 if _WIDE.search(part) else 1
    return _COPIES * width * len(part) + _OBJECT_BYTES * sum(map(part.count, _MARKS))
