"""Frames on a socket: two lengths (unsigned 32 and 64 bits, little-endian), a JSON text, and a block of bytes."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import threading
import time
from collections import deque
from typing import Any

__all__ = [
    "MAX_BLOCK",
    "MAX_TEXT",
    "Carrier",
    "Connection",
    "ProcessDied",
    "TimeLimit",
    "Unanswered",
    "WireError",
]

_HEAD = struct.Struct("<IQ")
MAX_TEXT = 8 << 20
MAX_BLOCK = 64 << 20
_MOST_SOCKETS = 64
_EARLY_S = 0.05
"""A wait ends within this time of its deadline; what ends it sooner is something else."""
_JSON = json.JSONEncoder(separators=(",", ":"))
_TIME = "the time for this check is over"
_DIED = "the Python process of the notebook has ended"


class Unanswered(BaseException):
    """There is no answer of the other end. No Exception: a test that expects one must not take this for it."""

    __module__ = "builtins"  # shown to people by its bare name


class WireError(Unanswered):
    """What came is not of the format, or what should go is too large for it."""

    __module__ = "builtins"


class ProcessDied(Unanswered):
    """The other process has ended."""

    __module__ = "builtins"


class TimeLimit(Unanswered):
    """The time of this test cell is over."""

    __module__ = "builtins"


class Connection:
    """Frames over a stream socket. A frame of which a part has come when the time is up is not lost.

    Several threads may send, one may receive.
    """

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._buffer = bytearray()
        self._sending = threading.Lock()

    def send(self, message: dict[str, Any], block: bytes = b"", deadline: float | None = None) -> None:
        """Send one frame; WireError if it is too large, ProcessDied if the other end has closed, or reads too slowly.

        deadline: time.monotonic() at which the connection is given up.
        """
        frame = _packed(message, block)
        try:
            with self._sending:
                self._stream.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))
                self._stream.sendall(frame)
        except OSError as error:  # half a frame may have gone: nothing can follow it
            self._stream.close()
            raise ProcessDied(_DIED) from error

    def fileno(self) -> int:
        """Return the socket's descriptor, to wait for; what `ready` says comes first."""
        return self._stream.fileno()

    def close(self) -> None:
        """Hang up."""
        self._stream.close()

    def shut(self) -> None:
        """Let the other end, and a thread that receives here, know that nothing more is said."""
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)

    def ready(self) -> bool:
        """Whether a frame, or a part of one, has come."""
        return bool(self._buffer) or bool(select.select([self._stream], [], [], 0)[0])

    def receive(self, deadline: float | None = None) -> tuple[dict[str, Any], bytes]:
        """Return the next frame.

        deadline: time.monotonic() at which TimeLimit is raised. Raises WireError for what is no frame, ProcessDied when
        the other end has closed.
        """
        self._fill(_HEAD.size, deadline)
        text_size, block_size = _HEAD.unpack_from(self._buffer)
        if text_size > MAX_TEXT or block_size > MAX_BLOCK:
            raise WireError(f"a frame of {(text_size + block_size) / 2**20:.0f} MiB")
        end = _HEAD.size + text_size
        self._fill(end + block_size, deadline)
        text, block = bytes(self._buffer[_HEAD.size : end]), bytes(self._buffer[end : end + block_size])
        del self._buffer[: end + block_size]
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise WireError("a frame that is not JSON") from error
        if not isinstance(message, dict):
            raise WireError("a frame that is no object")
        return message, block

    def _fill(self, size: int, deadline: float | None) -> None:
        while len(self._buffer) < size:
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                raise TimeLimit(_TIME)
            self._stream.settimeout(left_s)
            try:
                chunk = self._read(min(max(size - len(self._buffer), 4096), 1 << 20))
            except TimeoutError:
                if deadline is None or time.monotonic() < deadline - _EARLY_S:
                    raise  # of a signal's handler: the test's own
                raise TimeLimit(_TIME) from None
            except OSError as error:
                raise ProcessDied(_DIED) from error
            if not chunk:
                raise ProcessDied(_DIED)
            self._buffer += chunk

    def _read(self, size: int) -> bytes:
        return self._stream.recv(size)


class Carrier(Connection):
    """Frames over a socket of the system's own, by which other sockets come as well, each with a frame."""

    def __init__(self, stream: socket.socket) -> None:
        super().__init__(stream)
        self._came: deque[socket.socket] = deque()

    def hand_over(self, message: dict[str, Any], stream: socket.socket) -> None:
        """Send a frame and a socket, and close that here. Raises as `send` does."""
        frame = _packed(message, b"")
        try:
            with self._sending, stream:
                self._stream.settimeout(None)
                sent = socket.send_fds(self._stream, [frame], [stream.fileno()])
                self._stream.sendall(frame[sent:])
        except OSError as error:  # as in `send`
            self._stream.close()
            raise ProcessDied(_DIED) from error

    def close(self) -> None:
        """Hang up, on those that came as well."""
        super().close()
        for stream in self._came:
            stream.close()

    def taken_over(self) -> socket.socket:
        """Return the socket that came with the frame that was received last; WireError if there is none."""
        if not self._came:
            raise WireError("a frame without a socket")
        return self._came.popleft()

    def _read(self, size: int) -> bytes:
        chunk, found, *_ = socket.recv_fds(self._stream, size, 1, socket.MSG_CMSG_CLOEXEC)
        self._came += [socket.socket(fileno=number) for number in found]
        if len(self._came) > _MOST_SOCKETS:
            raise WireError("more sockets than frames")
        return chunk


def _packed(message: dict[str, Any], block: bytes) -> bytes:
    """Return the frame of a message; WireError if it is too large."""
    text = _JSON.encode(message).encode()
    if len(text) > MAX_TEXT or len(block) > MAX_BLOCK:
        raise WireError(f"too large to send: {(len(text) + len(block)) / 2**20:.0f} MiB")
    return b"".join([_HEAD.pack(len(text), len(block)), text, block])
