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
from collections.abc import Callable, Iterable

from labkit._launch.system_calls import (
    ANSWERING,
    CLONE,
    CLONE3,
    COMPUTING,
    FUTEX,
    ITS_OWN,
    LOOKING,
    MACHINES,
    MEMORY,
    PASSED_OVER,
    PRLIMIT,
    SECCOMP,
    SIGNAL_A_THREAD,
    TELLING,
    Calls,
    WithOneOf,
)
from labkit._system import LINUX, prctl, syscall

__all__ = ["before_unpacking", "leave_no_trace", "only_compute", "only_write_in", "write_nothing"]

_LOAD, _EQUAL, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_FIRST_ARGUMENT, _ARGUMENT_BYTES = 16, 8
"""Where arguments stand in what a filter sees, the lower half of each first."""
_A_THREAD = 0x00010000
"""The flag of clone for one more thread of this process, CLONE_THREAD."""
_PRIVATE, _WAIT, _WAIT_BITSET = 128, 0, 9
"""A futex of this process alone, FUTEX_PRIVATE_FLAG; two ways to wait for one."""
_ALLOW, _REFUSE = (_RETURN, 0, 0, 0x7FFF0000), (_RETURN, 0, 0, 0x00050001)  # with EPERM
_IGNORE = (_RETURN, 0, 0, 0x00050000)
_NO_SUCH_CALL, _TRY_AGAIN = (_RETURN, 0, 0, 0x00050026), (_RETURN, 0, 0, 0x0005000B)
_NO_SUCH_FILE = (_RETURN, 0, 0, 0x00050002)
_Step = tuple[int, int, int, int]
_Table = tuple[Calls, _Step]
_TELL_NOTHING: tuple[_Table, ...] = (TELLING, _REFUSE), (PASSED_OVER, _IGNORE)
_NO_NEW_PRIVILEGES, _SET_FILTER, _OF_ALL_THREADS = 38, 1, 1
_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
_WRITING, _REFERRING, _CUTTING = 0x1FF2, 0x2000, 0x4000
"""Landlock's rights to write, remove, make and move files; to move between folders (2nd version); to cut (3rd)."""


def before_unpacking(folder: str = "") -> None:
    """From now on files are written in this folder only, or nowhere, and no other process hears of anything.

    What is unpacked may be a student's own code, and import what it needs. `only_compute` or `only_write_in` follows.
    """
    if LINUX:
        _landlock(folder)
    _filter(_ALLOW, *_TELL_NOTHING)


def only_compute() -> None:
    """From now on no file opens, no process starts, and nobody hears of anything but through open descriptors."""
    _no_more(files=True)
    _filter(_REFUSE, (COMPUTING, _ALLOW), rules=(_own_futexes, _only_with(MEMORY)))


def only_write_in(folder: str) -> None:
    """From now on files are written in this folder only, and no other process hears of anything.

    No process starts either: it could live on.
    """
    _no_more(files=False)
    write_nothing(but_in=folder)


def write_nothing(*, but_in: str = "") -> None:
    """From now on no file is written, no process starts, and no other hears of anything but by open descriptors.

    but_in: a folder in which files are written all the same, until this is said once more without it.
    """
    if LINUX:
        _landlock(but_in)
    _filter(_ALLOW, *_TELL_NOTHING, rules=(_no_process, _limits_stay))


def leave_no_trace() -> None:
    """From now on nothing outlasts this process: it computes, and answers through open descriptors.

    No path is looked up, so no file is there to import; nothing is locked, no state of what others have open changes.
    No thread starts: when one ends, the kernel wakes whoever waits, in any process that has mapped the same library.
    """
    _filter(
        _REFUSE,
        (COMPUTING | ANSWERING, _ALLOW),
        (PASSED_OVER, _IGNORE),
        (LOOKING, _NO_SUCH_FILE),
        rules=(_own_futexes, _limits_stay, _signals_to_itself, _only_with(MEMORY | ITS_OWN)),
    )


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


def _filter(otherwise: _Step, *tables: _Table, rules: Iterable[Callable[[int], list[_Step]]] = ()) -> None:
    """Have the kernel do with the system calls of each table what stands beside it, and otherwise with all others.

    rules: of calls whose arguments count. It holds for all threads that this process has: a student's may have begun.
    """
    if not LINUX or platform.machine() not in MACHINES:
        return
    machine, column = MACHINES[platform.machine()]
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), _REFUSE, (_LOAD, 0, 0, 0)]
    for calls, then in tables:
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                steps += [(_EQUAL, 0, 1, number), then]
    for rule in rules:
        steps += rule(column)
    steps.append(otherwise)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    program = struct.pack("HP", len(steps), ctypes.addressof(code))
    if syscall(SECCOMP[column], _SET_FILTER, _OF_ALL_THREADS, program) > 0:
        raise OSError("a thread of this process has other walls than the rest: no new one can be put up")


def _argument(position: int, *, upper: bool = False) -> _Step:
    return _LOAD, 0, 0, _FIRST_ARGUMENT + _ARGUMENT_BYTES * position + _ARGUMENT_BYTES // 2 * upper


def _if_called(number: int, *body: _Step) -> list[_Step]:
    return [(_EQUAL, 0, len(body), number), *body]


def _no_process(column: int) -> list[_Step]:
    """Start threads only. What clone3 is to do lies in memory, where no filter looks; libraries go on to try clone."""
    a_thread = _argument(0), (_ANY_BIT, 0, 1, _A_THREAD), _ALLOW, _REFUSE
    return [*_if_called(CLONE[column], *a_thread), *_if_called(CLONE3[column], _NO_SUCH_CALL)]


def _limits_stay(column: int) -> list[_Step]:
    """Let limits be asked for, and not changed (the third argument is none): others can read them."""
    none = _argument(2), (_EQUAL, 0, 3, 0), _argument(2, upper=True), (_EQUAL, 0, 1, 0), _ALLOW, _REFUSE
    return _if_called(PRLIMIT[column], *none)


def _own_futexes(column: int) -> list[_Step]:
    """Wait for and wake this process's own threads. What lies in a file that others have mapped is theirs as well.

    Of those the kernel wakes for a thread that ends nobody hears here: who waits looks again at once.
    """
    waiting = [step for how in (_WAIT, _WAIT_BITSET) for step in ((_EQUAL, 0, 1, how), _TRY_AGAIN)]
    own = (_argument(1), (_ANY_BIT, 0, 1, _PRIVATE), _ALLOW, (_AND, 0, 0, _PRIVATE - 1), *waiting, _IGNORE)
    return _if_called(FUTEX[column], *own)


def _signals_to_itself(column: int) -> list[_Step]:
    return _if_called(SIGNAL_A_THREAD[column], _argument(0), (_EQUAL, 0, 1, os.getpid()), _ALLOW, _REFUSE)


def _only_with(calls: WithOneOf) -> Callable[[int], list[_Step]]:
    """Let these calls through with one of a few values for one of their arguments."""

    def rule(column: int) -> list[_Step]:
        steps = []
        for numbers, position, values in calls.values():
            allowed = [step for value in values for step in ((_EQUAL, 0, 1, value), _ALLOW)]
            steps += _if_called(numbers[column], _argument(position), *allowed, _REFUSE)
        return steps

    return rule
