"""What a process of this machine could talk to: sockets that listen, and other machines."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from autograder.sandbox.scratch_dir import PREFIX

__all__ = ["listening_ports", "open_sockets", "other_machines"]

_LISTENS_UNIX, _LISTENS_TCP = 0x10000, "0A"
_SOCKET = re.compile(rb"[0-9a-f]+: \w+ \w+ (?P<flags>[0-9A-F]{8}) \w+ \w+ +\d+ (?P<name>.+)", re.DOTALL)
_UP, _LOOPBACK = 1, 8
# Where sockets lie that another namespace listens at: a container is given the engine's like this.
_RUN = Path("/run")
_DEPTH = 3


def open_sockets(*, abstract: bool) -> set[str]:
    """Return the sockets of the file system that a student's process could connect to, and abstract ones on request.

    A grader's own are not among them: their names cannot be guessed, nor seen in the sandbox. Started by root, a
    student is a user who owns nothing.
    """
    found = set()
    for line in Path("/proc/net/unix").read_bytes().split(b"\n"):
        socket = _SOCKET.fullmatch(line)  # a name is whatever bytes some program chose
        if socket and int(socket["flags"], 16) & _LISTENS_UNIX:
            name = os.fsdecode(socket["name"])
            if name.startswith("@"):
                found |= {name} if abstract else set()
            elif f"/{PREFIX}" not in name and _may_connect(Path(name)):
                found.add(name)
    return found | {str(path) for path in _sockets(_RUN, _DEPTH) if _may_connect(path)}


def listening_ports() -> set[int]:
    """Return the TCP ports at which something of this machine listens."""
    ports = set()
    for table in ("tcp", "tcp6"):
        path = Path("/proc/net", table)
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            fields = line.split()
            if fields[3] == _LISTENS_TCP:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def other_machines() -> bool:
    """Whether this machine has a network: an interface that is up, beside the loopback."""
    flags = [int(path.read_text(), 16) for path in Path("/sys/class/net").glob("*/flags")]
    return any(each & _UP and not each & _LOOPBACK for each in flags)


def _sockets(directory: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(directory) as found:
            entries = list(found)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and depth > 1:
            yield from _sockets(Path(entry.path), depth - 1)
        elif stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
            yield Path(entry.path)


def _may_connect(path: Path) -> bool:
    try:
        if os.getuid() != 0:
            return stat.S_ISSOCK(path.stat().st_mode) and os.access(path, os.W_OK)
        everyone = [parent.stat().st_mode & 0o001 for parent in path.parents]
        return bool(path.stat().st_mode & 0o002) and all(everyone)
    except OSError:
        return False
