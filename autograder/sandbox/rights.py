"""Descriptors that a sandboxed process sends to the grader over a Unix socket, and that nobody here wants.

Whoever closes a descriptor last does the work of closing. For a TCP connection that lingers, and whose other end never
reads, that is to wait, without end: one that was passed to the grader and that it drops would hold it up. Reading what
it came with drops it, and so does closing the socket in which it waits.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
from collections.abc import Sequence

__all__ = ["close", "read", "refuse"]

_SO_PASSRIGHTS = 83  # Linux 6.16; Python has no name for it yet
_INTS_BYTES = 253 * struct.calcsize("i")  # as many descriptors as one message can carry
_MOST_UNREAD_BYTES = 1 << 22


def refuse(stream: socket.socket) -> bool:
    """Let sending a descriptor to this socket fail; return False where this Linux does not know how."""
    try:
        stream.setsockopt(socket.SOL_SOCKET, _SO_PASSRIGHTS, 0)
    except OSError:
        return False
    return True


def read(stream: socket.socket, most_bytes: int) -> tuple[bytes, list[int]]:
    """Return what came, and the descriptors that came with it, which are for `close`. Raises as recv does."""
    data, ancillary, _, _ = stream.recvmsg(most_bytes, socket.CMSG_SPACE(_INTS_BYTES), socket.MSG_CMSG_CLOEXEC)
    held: list[int] = []
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            held += [number for (number,) in struct.iter_unpack("i", content[: len(content) // 4 * 4])]
    return data, held


def close(stream: socket.socket, held: Sequence[int] = ()) -> None:
    """Close a socket that could not refuse descriptors, those that came, and those that wait in it."""
    held = list(held)
    unread = 0
    stream.setblocking(False)
    with contextlib.suppress(OSError):  # also: there is nothing more
        while unread < _MOST_UNREAD_BYTES:
            data, more = read(stream, 1 << 16)
            held += more
            if not data:
                break
            unread += len(data)
    if held or unread >= _MOST_UNREAD_BYTES:
        _bury([stream.detach(), *held])
    else:
        stream.close()


def _bury(descriptors: Sequence[int]) -> None:
    """Close them in a process that ends: an ending process does not wait."""
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, pass_fds=descriptors) as last:
        for descriptor in descriptors:
            os.close(descriptor)
        last.communicate()
