"""The system calls that a sandbox refuses, as the small program that the kernel takes.

Refused is what an unprivileged process may call, no lab needs, and a sandbox could be undermined with:

- new namespaces: in one of its own a process is root again, and may mount a tmpfs that no limit bounds;
- sockets other than Unix, IPv4, IPv6 and netlink: a network namespace does not hold back vsock, which reaches the
  host of a virtual machine;
- System V shared memory, semaphores and queues: they count against no limit;
- the kernel's keys: root's session keyring would be inherited;
- bpf, io_uring, userfaultfd and performance events: large kernel interfaces with a history;
- what tells one submission of another through a file that both may read, such as a library: being told that it was
  opened (inotify, leases), and asking which of it is in memory. Locking a whole file (flock) needs no right to write:
  it is passed over in silence, as if it had been done. So are the times of files, which whoever may write may set to
  now (/dev/null is one file in all sandboxes), and advice to forget what was read. Locking a part of a file for writing
  (fcntl) needs that right, and is done: SQLite's file would be torn by two processes whose locks are not. Who asks
  about such locks gets his question back: another one may be in the way. Of what else fcntl can do, what is known and
  concerns this process alone is allowed: the file itself keeps some of it.

Everything else is allowed. Known for x86-64 and AArch64; a 32-bit program is killed at its first system call.

Where there are no namespaces (`sole_wall`), files, processes and network are the machine's own. Then also refused is
what Landlock does not see:

- internet sockets, but for TCP where ranks need it; and TCP's way to connect while it sends;
- message queues, all of System V's, and opening a file by its number;
- extended attributes.

Owner and mode of a file, and limits, priorities and processors of a process, thread, group or user that is
named, cannot be changed; that is passed over in silence, because libraries ask for it where it does not matter.
"""

from __future__ import annotations

import errno
import platform
import struct

__all__ = ["filter_program"]

# Per machine: its number in the audit subsystem, and the column of _REFUSED.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
# On x86-64, on AArch64; None: a call that there is not.
_REFUSED: dict[str, tuple[int, int | None]] = {
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
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "cachestat": (451, 451),
}
_AS_IF_DONE: dict[str, tuple[int, int | None]] = {
    "flock": (73, 32),
    "fadvise64": (221, 223),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
_FCNTL, _PREADV2 = (72, 25), (327, 286)
_ASKING = (5, 36)  # F_GETLK, F_OFD_GETLK
_LOCKING = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, and the same of open files, F_OFD_...
# Descriptors and flags (F_DUPFD to F_SETFL, F_DUPFD_CLOEXEC), who is signalled, the size of a pipe, seals of memory.
_OF_ITS_OWN = (0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 1030, 1031, 1032, 1033, 1034)
_RWF_NOWAIT = 8
_REFUSED_AT_SOLE_WALL = {
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "open_by_handle_at": (304, 265),
}
_NO_ATTRIBUTES = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
}
_PASSED_OVER = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
}
# What each argument must be where the caller itself is meant, and nobody else: a `who` of 0 may be a whole user.
_PRIO_PROCESS, _IOPRIO_WHO_PROCESS = 0, 1
_OF_ITSELF_ONLY = {
    "prlimit64": ((302, 261), {0: 0}),
    "setpriority": ((141, 140), {0: _PRIO_PROCESS, 1: 0}),
    "sched_setparam": ((142, 118), {0: 0}),
    "sched_setscheduler": ((144, 119), {0: 0}),
    "sched_setaffinity": ((203, 122), {0: 0}),
    "sched_setattr": ((314, 274), {0: 0}),
    "ioprio_set": ((251, 30), {0: _IOPRIO_WHO_PROCESS, 1: 0}),
}
# Which argument holds the flags.
_SENDING = {"sendto": ((44, 206), 3), "sendmsg": ((46, 211), 2), "sendmmsg": ((307, 269), 3)}
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_WITHIN, _INTERNET = (1, 16), (2, 10)  # AF_UNIX, AF_NETLINK; AF_INET, AF_INET6
_SOCK_STREAM, _TYPE_MASK = 1, 0xF
_TCP_PROTOCOLS = (0, 6)  # not MPTCP: Landlock does not know it
_FASTOPEN = 0x20000000
_FIRST_X32_CALL = 0x40000000  # a second set of numbers for the same calls

# Opcodes of classic BPF, and offsets in struct seccomp_data.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_CALL, _MACHINE, _FIRST_ARGUMENT, _ARGUMENT_BYTES = 0, 4, 16, 8
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def filter_program(machine: str = platform.machine(), *, sole_wall: bool = False, tcp: bool = False) -> bytes:
    """Return the filter as an array of struct sock_filter; empty for a machine that is not known.

    sole_wall: for a process without namespaces; then `tcp` says whether it may use TCP.
    """
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
        if (number := numbers[column]) is not None:
            program += _if(_EQUAL, number, _fail(errno.EPERM))
    program += _of_shared_files(column)
    if sole_wall:
        program += _at_sole_wall(column, tcp)
    refuse_namespaces = [_argument(0), *_if(_ANY_BIT, _NEW_NAMESPACES, _fail(errno.EPERM))]
    program += _if(_EQUAL, _CLONE[column], *refuse_namespaces, _step(_RETURN, _ALLOW))
    families = _WITHIN if sole_wall else (*_WITHIN, *_INTERNET)
    sockets = [step for family in families for step in _if(_EQUAL, family, _step(_RETURN, _ALLOW))]
    if tcp and sole_wall:
        sockets += [step for family in _INTERNET for step in _if(_EQUAL, family, *_only_tcp())]
    program += _if(_EQUAL, _SOCKET[column], _argument(0), *sockets, _fail(errno.EAFNOSUPPORT))
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _of_shared_files(column: int) -> list[bytes]:
    """Keep from a process what others have locked, opened or read of a file that it can only read."""
    commands = [step for command in _ASKING for step in _if(_EQUAL, command, _fail(0))]
    commands += [step for command in _LOCKING + _OF_ITS_OWN for step in _if(_EQUAL, command, _step(_RETURN, _ALLOW))]
    passed_over = [pair[column] for pair in _AS_IF_DONE.values()]
    return [
        *(step for number in passed_over if number is not None for step in _if(_EQUAL, number, _fail(0))),
        *_if(_EQUAL, _FCNTL[column], _argument(1), *commands, _fail(errno.EPERM)),
        *_if(
            _EQUAL,
            _PREADV2[column],
            _argument(5),
            *_if(_ANY_BIT, _RWF_NOWAIT, _fail(errno.EOPNOTSUPP)),
            _step(_RETURN, _ALLOW),
        ),
    ]


def _at_sole_wall(column: int, tcp: bool) -> list[bytes]:
    program: list[bytes] = []
    for calls, error in (_REFUSED_AT_SOLE_WALL, errno.EPERM), (_NO_ATTRIBUTES, errno.ENOTSUP), (_PASSED_OVER, 0):
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                program += _if(_EQUAL, number, _fail(error))
    for pair, own in _OF_ITSELF_ONLY.values():
        check = [step for at, value in own.items() for step in (_argument(at), *_unless(_EQUAL, value, _fail(0)))]
        program += _if(_EQUAL, pair[column], *check, _step(_RETURN, _ALLOW))
    for pair, position in _SENDING.values() if tcp else ():
        check = [_argument(position), *_if(_ANY_BIT, _FASTOPEN, _fail(errno.EOPNOTSUPP)), _step(_RETURN, _ALLOW)]
        program += _if(_EQUAL, pair[column], *check)
    return program


def _only_tcp() -> list[bytes]:
    """Of an internet socket: refuse all kinds and protocols but TCP."""
    program = [_argument(1), _step(_AND, _TYPE_MASK), *_unless(_EQUAL, _SOCK_STREAM, _fail(errno.EAFNOSUPPORT))]
    program.append(_argument(2))
    for protocol in _TCP_PROTOCOLS:
        program += _if(_EQUAL, protocol, _step(_RETURN, _ALLOW))
    return [*program, _fail(errno.EAFNOSUPPORT)]


def _argument(position: int) -> bytes:
    """Load the lower half of a call's argument."""
    return _step(_LOAD, _FIRST_ARGUMENT + _ARGUMENT_BYTES * position)


def _step(code: int, value: int, on_true: int = 0, on_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, on_true, on_false, value)


def _if(test: int, value: int, *body: bytes) -> list[bytes]:
    return [_step(test, value, on_false=len(body)), *body]


def _unless(test: int, value: int, *body: bytes) -> list[bytes]:
    return [_step(test, value, on_true=len(body)), *body]


def _fail(number: int) -> bytes:
    """Return to the caller with this error number; 0: as if the call had been done."""
    return _step(_RETURN, _FAIL | number)
