"""Landlock: a process gives up, for itself and all its descendants, to write anywhere but in a few places.

It stands behind the read-only mounts: where one of them should be writable after all, a file there still cannot be
changed. Reading and executing are left alone; pipes, sockets and memory files are no paths, and so not affected. What
a process in it may look into or trace ends at its own descendants.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

__all__ = ["confine_writing"]

# The same numbers on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_ONLY, _PATH_BENEATH = 1, 1
# WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_CHAR to MAKE_SYM, REFER (version 2), TRUNCATE (version 3)
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_WRITING = _WRITE_FILE | sum(1 << bit for bit in range(4, 14)) | _TRUNCATE
# Version 1 cannot allow a file to be moved from one directory to another, which honest programs do.
_OLDEST_VERSION = 2


def confine_writing(places: Iterable[str]) -> bool:
    """Allow writing below these directories and to these files only; return False where the kernel has no Landlock.

    The process must not be able to gain privileges (no_new_privs). Places that are not there are passed over.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_ONLY)
    if version < _OLDEST_VERSION:
        return False
    known = _WRITING if version > _OLDEST_VERSION else _WRITING & ~_TRUNCATE
    attributes = struct.pack("=Q", known)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    try:
        for place in places:
            _allow(libc, ruleset, place, known)
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)
    return True


def _allow(libc: ctypes.CDLL, ruleset: int, place: str, known: int) -> None:
    try:
        descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rights = known if is_directory else known & (_WRITE_FILE | _TRUNCATE)
        rule = struct.pack("=Qi", rights, descriptor)
        _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
