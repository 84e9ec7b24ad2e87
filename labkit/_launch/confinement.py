"""Keeps a process of ours, for good, from telling others what it knows but by what it returns.

For checks that write in one process and read in another: what is read has to be in the bytes. On Linux the kernel
refuses, by seccomp and Landlock; elsewhere there are the limits only. Student code that is graded runs inside a
sandbox as well, which this is no substitute for.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Sequence

from labkit._system import LINUX, prctl, syscall

__all__ = ["before_unpacking", "leave_no_trace", "only_compute", "only_write_in", "write_nothing"]

# Per machine: its number in the audit subsystem, and the column of the tables below.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_COMPUTING: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "writev": (20, 66),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "set_robust_list": (273, 99),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
}
"""The only system calls of a process that computes: memory, clocks, its own threads, and open descriptors."""
_TELLING: dict[str, tuple[int | None, int | None]] = {
    # A socket, and what names one or asks for one by its name: a pair, as an event loop has, knows its other end only.
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept4": (288, 242),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "mq_open": (240, 180),
    "setxattrat": (463, 463),
    # Groups, signals that carry a number, and memory.
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "kill": (62, 129),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
}
"""What tells other processes something without writing a file."""
_PASSED_OVER: dict[str, tuple[int | None, int | None]] = {
    # Times, modes and owners of files, which Landlock does not know.
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    # Locks, and what others can ask about a process.
    "flock": (73, 32),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}
"""What others could read, and libraries ask for where it does not matter: nothing is done, and that is no error."""
_LASTING: dict[str, tuple[int | None, int | None]] = {
    # Whatever looks a path up, also in vain: the next who asks for it hears sooner.
    "open": (2, None),
    "creat": (85, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "chdir": (80, 49),
    "chroot": (161, 51),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "truncate": (76, 45),
    "statfs": (137, 43),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "getxattrat": (464, 464),
    "listxattrat": (465, 465),
    "removexattrat": (466, 466),
    "inotify_add_watch": (254, 27),
    "fanotify_mark": (301, 263),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "execve": (59, 221),
    "execveat": (322, 281),
    "uselib": (134, None),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "mq_unlink": (241, 181),
    # Keys and programs that the kernel keeps, what does system calls unseen, and how much of the machine is in use.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "sysinfo": (99, 179),
}
"""What the kernel remembers when a process has ended, or tells of those that have."""
_LIMIT = (302, 261)
"""prlimit64: refused where it is to change a limit (its third argument), its own too, which others can read."""
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_THIRD_ARGUMENT = (32, 36)
"""Where its two halves stand in what a filter sees."""
_ALLOW, _REFUSE = (_RETURN, 0, 0, 0x7FFF0000), (_RETURN, 0, 0, 0x00050001)  # with EPERM
_IGNORE = (_RETURN, 0, 0, 0x00050000)
_Table = tuple[dict[str, tuple[int | None, int | None]], tuple[int, ...]]
_TELL_NOTHING: tuple[_Table, ...] = (_TELLING, _REFUSE), (_PASSED_OVER, _IGNORE)
_SET_SECCOMP, _NO_NEW_PRIVILEGES = 22, 38
_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
_WRITING, _REFERRING, _CUTTING = 0x1FF2, 0x2000, 0x4000
"""Landlock's rights to write, remove, make and move files; to move between folders (2nd version); to cut (3rd)."""


def before_unpacking(folder: str = "") -> None:
    """From now on files are written in this folder only, or nowhere, and no other process hears of anything.

    What is unpacked may be a student's own code, and import what it needs. `only_compute` or `only_write_in` follows.
    """
    if LINUX:
        _landlock(folder)
    _filter(_ALLOW, *_TELL_NOTHING, limits=True)


def only_compute() -> None:
    """From now on no file opens, no process starts, and nobody hears of anything but through open descriptors."""
    _no_more(files=True)
    _filter(_REFUSE, (_COMPUTING, _ALLOW))


def only_write_in(folder: str) -> None:
    """From now on files are written in this folder only, and no other process hears of anything.

    No process starts either, unless root started this one: it could live on.
    """
    _no_more(files=False)
    if LINUX:
        _landlock(folder)
    _filter(_ALLOW, *_TELL_NOTHING)


def write_nothing() -> None:
    """From now on no file is written, and no other process hears of anything but through open descriptors."""
    if LINUX:
        _landlock()
    _filter(_ALLOW, *_TELL_NOTHING)


def leave_no_trace() -> None:
    """From now on no path is looked up, so nothing is imported either, and nothing outlasts this process."""
    _filter(_ALLOW, (_LASTING, _REFUSE))


def _no_more(*, files: bool) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    if files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _landlock(folder: str = "") -> None:
    """Write in this folder only, or nowhere. Linux 5.13; an older one lets it write elsewhere."""
    prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    version = syscall(_CREATE_RULES, None, 0, 1)
    if version <= 0:
        return
    rights = _WRITING | (_REFERRING if version > 1 else 0) | (_CUTTING if version > 2 else 0)
    rules = syscall(_CREATE_RULES, struct.pack("Q", rights), 8, 0)
    if folder:
        within = os.open(folder, os.O_PATH)
        syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, within), 0)
        os.close(within)
    syscall(_RESTRICT, rules, 0)
    os.close(rules)


def _filter(otherwise: tuple[int, ...], *tables: _Table, limits: bool = False) -> None:
    """Have the kernel do with the system calls of each table what stands beside it, and otherwise with all others.

    limits: may be changed still.
    """
    if not LINUX or platform.machine() not in _MACHINES:
        return
    machine, column = _MACHINES[platform.machine()]
    steps: list[Sequence[int]] = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), _REFUSE, (_LOAD, 0, 0, 0)]
    for calls, then in tables:
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                steps += [(_EQUAL, 0, 1, number), then]
    if otherwise == _ALLOW and not limits:
        lower, upper = _THIRD_ARGUMENT
        steps += [(_EQUAL, 0, 5, _LIMIT[column]), (_LOAD, 0, 0, lower), (_EQUAL, 0, 2, 0)]
        steps += [(_LOAD, 0, 0, upper), (_EQUAL, 1, 0, 0), _REFUSE]
    steps.append(otherwise)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    prctl(_SET_SECCOMP, 2, struct.pack("HP", len(steps), ctypes.addressof(code)), 0, 0)
