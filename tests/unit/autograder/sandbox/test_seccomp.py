from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.seccomp import filter_program

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
X86, ARM = 0xC000003E, 0xC00000B7
MACHINES = {"x86_64": X86, "aarch64": ARM}


def verdict(machine: str, call: int, *arguments: int, audit: int | None = None, **options: bool) -> int:
    """Run the filter as the kernel would, on an instruction set of six."""
    program = list(struct.iter_unpack("=HBBI", filter_program(machine, **options)))
    memory = {0: call, 4: MACHINES[machine] if audit is None else audit}
    memory |= {16 + 8 * position: value & 0xFFFFFFFF for position, value in enumerate((*arguments, *[0] * 6)[:6])}
    register, at = 0, 0
    while True:
        code, on_true, on_false, value = program[at]
        at += 1
        if code == 0x20:
            register = memory[value]
        elif code == 0x54:
            register &= value
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: register == value, 0x35: register >= value, 0x45: bool(register & value)}[code]
            at += on_true if holds else on_false


@pytest.mark.parametrize(("machine", "unshare", "clone"), [("x86_64", 272, 56), ("aarch64", 97, 220)])
def test_namespaces_are_refused_and_threads_are_not(machine: str, unshare: int, clone: int) -> None:
    sigchld, clone_newuser, clone_newnet, clone_thread = 17, 0x10000000, 0x40000000, 0x3D0F00
    assert verdict(machine, unshare) == FAIL | errno.EPERM
    assert verdict(machine, clone, clone_newuser | sigchld) == FAIL | errno.EPERM
    assert verdict(machine, clone, clone_newnet) == FAIL | errno.EPERM
    assert verdict(machine, clone, sigchld) == ALLOW
    assert verdict(machine, clone, clone_thread) == ALLOW
    assert verdict(machine, 435) == FAIL | errno.ENOSYS


@pytest.mark.parametrize(("machine", "call"), [("x86_64", 41), ("aarch64", 198)])
def test_only_ordinary_sockets_are_allowed(machine: str, call: int) -> None:
    allowed = {family for family in range(64) if verdict(machine, call, family) == ALLOW}
    assert allowed == {1, 2, 10, 16}
    assert verdict(machine, call, 40) == FAIL | errno.EAFNOSUPPORT


@pytest.mark.parametrize(
    ("calls", "own", "others"),
    [
        ((203, 122), (0, 8), [(4711, 8)]),  # sched_setaffinity
        ((141, 140), (0, 0, 5), [(0, 4711, 5), (1, 0, 5), (2, 0, 5), (2, 1000, 5)]),  # setpriority
        ((251, 30), (1, 0, 5), [(1, 4711, 5), (2, 0, 5), (3, 0, 5)]),  # ioprio_set
        ((302, 261), (0, 7), [(4711, 7)]),  # prlimit64
    ],
    ids=["affinity", "priority", "priority of reading", "limits"],
)
def test_where_processes_are_the_machine_s_one_changes_only_itself(
    calls: tuple[int, int], own: tuple[int, ...], others: list[tuple[int, ...]]
) -> None:
    for machine, call in zip(MACHINES, calls, strict=True):
        assert verdict(machine, call, *own, sole_wall=True) == ALLOW
        assert {verdict(machine, call, *other, sole_wall=True) for other in others} == {FAIL}
        assert verdict(machine, call, *others[0]) == ALLOW  # in a namespace there are no others


@pytest.mark.parametrize("machine", MACHINES)
def test_programs_for_another_machine_are_killed(machine: str) -> None:
    i386 = 0x40000003
    assert verdict(machine, 1, audit=i386) == KILL


def test_the_second_numbering_of_x86_is_refused() -> None:
    assert verdict("x86_64", 0x40000000 | 272) == FAIL | errno.ENOSYS


@pytest.mark.parametrize(("machine", "flock", "fcntl", "preadv2"), [("x86_64", 73, 72, 327), ("aarch64", 32, 25, 286)])
def test_nobody_hears_what_others_do_with_a_file_that_all_may_read(
    machine: str, flock: int, fcntl: int, preadv2: int
) -> None:
    """A lock, a lease, a notice or the page cache of a library would carry a hidden test to another submission."""
    lock_exclusively, nowait = 2, 8
    assert verdict(machine, flock, 3, lock_exclusively) == FAIL  # no error, and nothing is done
    asked, lock_for_writing = {5, 36}, {6, 7, 37, 38}  # F_GETLK; F_SETLK, F_SETLKW; the same of open files
    lease_notice_hint = 1024, 1025, 1026, 1035, 1036, 1037, 1038
    allowed = {command for command in range(1100) if verdict(machine, fcntl, 3, command) == ALLOW}
    silent = {command for command in range(1100) if verdict(machine, fcntl, 3, command) == FAIL}
    assert silent == asked
    assert not allowed & {*silent, *lease_notice_hint}
    assert {0, 1, 2, 3, 4, 1030, *lock_for_writing} <= allowed
    assert verdict(machine, fcntl, 3, 2000) == FAIL | errno.EPERM
    assert verdict(machine, preadv2, 3, 0, 1, 0, 0, nowait) == FAIL | errno.EOPNOTSUPP
    assert verdict(machine, preadv2, 3, 0, 1) == ALLOW
    for call in (253, 294, 300, 451) if machine == "x86_64" else (26, 262, 451):
        assert verdict(machine, call) == FAIL | errno.EPERM


@given(call=st.integers(0, 40), machine=st.sampled_from(sorted(MACHINES)))
def test_reading_writing_and_memory_are_allowed(call: int, machine: str) -> None:
    others = {("x86_64", 29), ("aarch64", 26), ("aarch64", 32)}  # shmget, inotify_init1, flock
    if (machine, call) not in others:
        assert verdict(machine, call) == ALLOW


@given(
    st.one_of(st.integers(0, 500), st.integers(0, 2**32 - 1)),
    st.lists(st.integers(0, 2**32 - 1), max_size=6),
    st.sampled_from(sorted(MACHINES)),
    st.booleans(),
    st.booleans(),
)
def test_every_call_gets_a_verdict(call: int, arguments: list[int], machine: str, sole_wall: bool, tcp: bool) -> None:
    found = verdict(machine, call, *arguments, sole_wall=sole_wall, tcp=tcp)
    assert found & 0xFFFF0000 in {ALLOW, FAIL}
    if found == ALLOW and sole_wall:
        assert verdict(machine, call, *arguments) == ALLOW, "the sole wall refuses more, never less"


@pytest.mark.parametrize(("machine", "call"), [("x86_64", 41), ("aarch64", 198)])
@pytest.mark.parametrize("tcp", [False, True])
def test_at_the_sole_wall_tcp_is_all_of_the_internet_and_only_on_request(machine: str, call: int, tcp: bool) -> None:
    nonblocking = 0o4000
    kinds = [(kind, protocol) for kind in range(8) for protocol in (0, 6, 17, 132, 262)]
    for family in (2, 10):
        options = {"sole_wall": True, "tcp": tcp}
        allowed = {(k, p) for k, p in kinds if verdict(machine, call, family, k | nonblocking, p, **options) == ALLOW}
        assert allowed == ({(1, 0), (1, 6)} if tcp else set())
    assert verdict(machine, call, 1, 2, sole_wall=True, tcp=tcp) == ALLOW


@pytest.mark.parametrize(("machine", "sendto"), [("x86_64", 44), ("aarch64", 206)])
def test_tcp_does_not_connect_while_it_sends(machine: str, sendto: int) -> None:
    fastopen, nosignal = 0x20000000, 0x4000
    refused = FAIL | errno.EOPNOTSUPP
    assert verdict(machine, sendto, 3, 0, 0, fastopen | nosignal, sole_wall=True, tcp=True) == refused
    assert verdict(machine, sendto, 3, 0, 0, nosignal, sole_wall=True, tcp=True) == ALLOW


@pytest.mark.parametrize(("machine", "prlimit", "fchmod"), [("x86_64", 302, 91), ("aarch64", 261, 52)])
def test_what_concerns_others_seems_to_be_done(machine: str, prlimit: int, fchmod: int) -> None:
    assert verdict(machine, prlimit, 0, sole_wall=True) == ALLOW
    assert verdict(machine, prlimit, 1, sole_wall=True) == FAIL
    assert verdict(machine, fchmod, 3, sole_wall=True) == FAIL
    assert verdict(machine, prlimit, 1) == verdict(machine, fchmod, 3) == ALLOW


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program("riscv64") == b""
