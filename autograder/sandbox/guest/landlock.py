"""Landlock: a process gives up, for itself and all its descendants, files that it does not need, and more.

`confine_writing` stands behind the read-only mounts of a sandbox of namespaces: where one of them should be writable
after all, a file there still cannot be changed. `confine` is the wall itself where there are no namespaces.

Pipes, socket pairs and memory files are no paths, and so not affected; neither are looking up that a path exists, its
owner and times, nor named sockets. What a process in it may look into or trace ends at its own descendants.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

__all__ = ["SCOPES", "TRUNCATES", "confine", "confine_writing", "version"]

# The same numbers on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_ONLY, _PATH_BENEATH, _NET_PORT = 1, 1, 2
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
# WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_CHAR to MAKE_SYM, REFER (version 2), TRUNCATE (version 3)
_WRITING = _WRITE_FILE | sum(1 << bit for bit in range(4, 14)) | _TRUNCATE
_READING = _EXECUTE | _READ_FILE | _READ_DIR
# What a rule on a file, not a directory, may allow.
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_BIND_TCP, _CONNECT_TCP = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
# Version 1 cannot allow a file to be moved from one directory to another, which honest programs do.
_OLDEST_VERSION = 2
TRUNCATES, _CONNECTS, _CONTROLS, SCOPES = 3, 4, 5, 6
"""From which version on: a file cannot be emptied unless it may be written; TCP; devices; signals, abstract sockets."""


def version() -> int:
    """Return which version of Landlock this kernel has; 0 or less: none that can be used."""
    return int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_ONLY))


def confine_writing(places: Iterable[str], *, thread_names: str = "") -> bool:
    """Allow writing below these directories and to these files only; return False where the kernel has no Landlock.

    The process must not be able to gain privileges (no_new_privs). Places that are not there are passed over.
    thread_names: below which directory of /proc existing files may be written to as well: CUDA names its threads there,
    and does not start where it cannot.
    """
    found = version()
    if found < _OLDEST_VERSION:
        return False
    known = _WRITING if found >= TRUNCATES else _WRITING & ~_TRUNCATE
    with _Ruleset(struct.pack("=Q", known)) as rules:
        for place in places:
            rules.allow(place, known)
        if thread_names:
            rules.allow(thread_names, (_WRITE_FILE | _TRUNCATE) & known)
        rules.apply()
    return True


def confine(
    *,
    read: Iterable[str],
    write: Iterable[str],
    devices: Iterable[str] = (),
    ports: Iterable[int] | None = None,
    thread_names: str = "",
) -> None:
    """Allow to read and run what is in `read`, everything in `write`, and to use `devices`; of other files nothing.

    Signals reach descendants only, abstract sockets are out of reach (from version 6 on), and TCP is refused (from
    version 4 on); but with `ports` these can be listened at and connected to, and the kernel may pick one to listen at.
    thread_names: as in `confine_writing`.

    The process must not be able to gain privileges (no_new_privs). Places that are not there are passed over. Raises
    OSError where the kernel's Landlock is older than version 3.
    """
    found = version()
    if found < TRUNCATES:
        raise OSError(0, f"Landlock: version {max(found, 0)}, and at least {TRUNCATES} is needed")
    files = _READING | _WRITING | (_IOCTL if found >= _CONTROLS else 0)
    connecting = _BIND_TCP | _CONNECT_TCP if found >= _CONNECTS else 0
    scopes = _ABSTRACT_SOCKETS | _SIGNALS if found >= SCOPES else 0
    with _Ruleset(struct.pack("=QQQ", files, connecting, scopes)[: 8 * _words(found)]) as rules:
        for places, rights in ((read, _READING), (write, files), (devices, files & (_OF_FILES & ~_EXECUTE))):
            for place in places:
                rules.allow(place, rights)
        if thread_names:
            rules.allow(thread_names, _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE)
        if ports is not None and connecting:
            rules.allow_port(0, _BIND_TCP)
            for port in ports:
                rules.allow_port(port, _BIND_TCP | _CONNECT_TCP)
        rules.apply()


def _words(found: int) -> int:
    """Return how many of the three numbers this version of the kernel takes."""
    return 1 if found < _CONNECTS else 2 if found < SCOPES else 3


class _Ruleset:
    """Rules in the making; closed with the with statement."""

    def __init__(self, attributes: bytes) -> None:
        self._libc = _libc()
        self._ruleset = _checked(self._libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))

    def __enter__(self) -> _Ruleset:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ruleset)

    def allow(self, place: str, rights: int) -> None:
        """Allow this below a directory or with a file; nothing if it is not there."""
        try:
            descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, PermissionError):
            return
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= _OF_FILES
            self._add(_PATH_BENEATH, struct.pack("=Qi", rights, descriptor))
        finally:
            os.close(descriptor)

    def allow_port(self, port: int, rights: int) -> None:
        """Allow this with a TCP port."""
        self._add(_NET_PORT, struct.pack("=QQ", rights, port))

    def apply(self) -> None:
        """Put the rules on this process, for good."""
        _checked(self._libc.syscall(_RESTRICT_SELF, self._ruleset, 0))

    def _add(self, kind: int, rule: bytes) -> None:
        _checked(self._libc.syscall(_ADD_RULE, self._ruleset, kind, rule, 0))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
