"""The system calls that a sandbox refuses, as the small program that bubblewrap hands to the kernel.

Refused is what an unprivileged process may call, no lab needs, and a sandbox could be undermined with:

- new namespaces: in one of its own a process is root again, and may mount a tmpfs that no limit bounds;
- sockets other than Unix, IPv4, IPv6 and netlink: a network namespace does not hold back vsock, which reaches the
  host of a virtual machine;
- System V shared memory, semaphores and queues: they count against no limit;
- the kernel's keys: root's session keyring would be inherited;
- bpf, io_uring, userfaultfd and performance events: large kernel interfaces with a history.

Everything else is allowed. Known for x86-64 and AArch64; a 32-bit program is killed at its first system call.
"""

from __future__ import annotations

import errno
import platform
import struct

__all__ = ["filter_program"]

# Per machine: its number in the audit subsystem, and the column of _REFUSED.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_REFUSED = {
    "unshare": (272, 97),
    "setns": (308, 268),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_FIRST_X32_CALL = 0x40000000  # a second set of numbers for the same calls

# Opcodes of classic BPF, and offsets in struct seccomp_data.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_CALL, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def filter_program(machine: str = platform.machine()) -> bytes:
    """Return the filter as an array of struct sock_filter; empty for a machine that is not known."""
    if machine not in _MACHINES:
        return b""
    audit_number, column = _MACHINES[machine]
    program = [
        _step(_LOAD, _MACHINE),
        *_unless(_EQUAL, audit_number, _step(_RETURN, _KILL)),
        _step(_LOAD, _CALL),
        *_if(_AT_LEAST, _FIRST_X32_CALL, _fail(errno.ENOSYS)),
        # Its flags lie in memory, where a filter cannot look; libraries go on to try clone.
        *_if(_EQUAL, _CLONE3[column], _fail(errno.ENOSYS)),
    ]
    for numbers in _REFUSED.values():
        program += _if(_EQUAL, numbers[column], _fail(errno.EPERM))
    refuse_namespaces = [_step(_LOAD, _FIRST_ARGUMENT), *_if(_ANY_BIT, _NEW_NAMESPACES, _fail(errno.EPERM))]
    allow_families = [step for family in _FAMILIES for step in _if(_EQUAL, family, _step(_RETURN, _ALLOW))]
    program += _if(_EQUAL, _CLONE[column], *refuse_namespaces, _step(_RETURN, _ALLOW))
    program += _if(_EQUAL, _SOCKET[column], _step(_LOAD, _FIRST_ARGUMENT), *allow_families, _fail(errno.EAFNOSUPPORT))
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, on_true: int = 0, on_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, on_true, on_false, value)


def _if(test: int, value: int, *body: bytes) -> list[bytes]:
    return [_step(test, value, on_false=len(body)), *body]


def _unless(test: int, value: int, *body: bytes) -> list[bytes]:
    return [_step(test, value, on_true=len(body)), *body]


def _fail(number: int) -> bytes:
    return _step(_RETURN, _FAIL | number)
