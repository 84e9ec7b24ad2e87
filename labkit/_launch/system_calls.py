"""Numbers of the system calls that a confined process may make, or is refused; see `confinement`.

Each on x86-64, then on AArch64; None: a call that there is not.
"""

from __future__ import annotations

__all__ = [
    "ANSWERING",
    "CLONE",
    "CLONE3",
    "COMPUTING",
    "FUTEX",
    "ITS_OWN",
    "LOOKING",
    "MACHINES",
    "MEMORY",
    "PASSED_OVER",
    "PRLIMIT",
    "SECCOMP",
    "SIGNAL_A_THREAD",
    "TELLING",
    "Calls",
    "WithOneOf",
]

Calls = dict[str, tuple[int | None, int | None]]

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
COMPUTING: Calls = {
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
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
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
"""The only system calls of a process that computes, beside `futex`: memory, clocks, and open descriptors."""
TELLING: Calls = {
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
    # Groups, signals that carry a number, processes, and memory.
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "kill": (62, 129),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
}
"""What tells other processes something without writing a file."""
PASSED_OVER: Calls = {
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
ANSWERING: Calls = {
    # A socket that is open, and pairs of its own, as an event loop has.
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "shutdown": (48, 210),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "socketpair": (53, 199),
    "setsockopt": (54, 208),
    "getsockopt": (55, 209),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "eventfd2": (290, 19),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "readv": (19, 65),
    # Waiting.
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "pause": (34, None),
    "alarm": (37, None),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    # What it is.
    "uname": (63, 160),
    "getcwd": (79, 17),
    "getrlimit": (97, 163),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "getpriority": (140, 141),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "getcpu": (309, 168),
}
"""What a process may do beside that if it answers over a socket: nothing of this is seen by who comes after it."""
LOOKING: Calls = {
    "stat": (4, None),
    "lstat": (6, None),
    "access": (21, None),
    "readlink": (89, None),
    "newfstatat": (262, 79),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "statx": (332, 291),
    "faccessat2": (439, 439),
}
"""What asks whether there is a file: there is none, without a look."""
CLONE, CLONE3, FUTEX, PRLIMIT = (56, 220), (435, 435), (202, 98), (302, 261)
SECCOMP, SIGNAL_A_THREAD = (317, 277), (234, 131)
_DUPLICATE, _FLAGS = (0, 1030), (1, 2, 3)
_TERMINAL, _OWN_FLAGS = (0x5401, 0x5413), (0x5421, 0x5450, 0x5451, 0x541B)
_NAME, _MEMORY_NAME = (15, 16), 0x53564D41
WithOneOf = dict[str, tuple[tuple[int, int], int, tuple[int, ...]]]
"""A call, which of its arguments says what is to be done, and with what there it does."""
MEMORY: WithOneOf = {"madvise": ((28, 233), 2, (4, 8, 14, 15, 16, 17, 18, 19))}
"""Give pages of its own back (MADV_DONTNEED, MADV_FREE), in which sizes, and with how much when it forks or fails."""
ITS_OWN: WithOneOf = {
    "fcntl": ((72, 25), 1, (*_DUPLICATE, *_FLAGS)),
    "ioctl": ((16, 29), 1, (*_TERMINAL, *_OWN_FLAGS)),
    "prctl": ((157, 167), 0, (*_NAME, _MEMORY_NAME)),
}
"""Descriptors and their flags, whether one is a terminal, names of threads: no lock, no lease, no state of a file."""
