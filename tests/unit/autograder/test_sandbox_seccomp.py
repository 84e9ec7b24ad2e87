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


def verdict(machine: str, call: int, argument: int = 0, audit: int | None = None) -> int:
    """Run the filter as the kernel would, on an instruction set of five."""
    program = list(struct.iter_unpack("=HBBI", filter_program(machine)))
    memory = {0: call, 4: MACHINES[machine] if audit is None else audit, 16: argument & 0xFFFFFFFF}
    register, at = 0, 0
    while True:
        code, on_true, on_false, value = program[at]
        at += 1
        if code == 0x20:
            register = memory[value]
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


@pytest.mark.parametrize("machine", MACHINES)
def test_programs_for_another_machine_are_killed(machine: str) -> None:
    i386 = 0x40000003
    assert verdict(machine, 1, audit=i386) == KILL


def test_the_second_numbering_of_x86_is_refused() -> None:
    assert verdict("x86_64", 0x40000000 | 272) == FAIL | errno.ENOSYS


@given(call=st.integers(0, 40), machine=st.sampled_from(sorted(MACHINES)))
def test_reading_writing_and_memory_are_allowed(call: int, machine: str) -> None:
    if (machine, call) != ("x86_64", 29):  # shmget
        assert verdict(machine, call) == ALLOW


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.sampled_from(sorted(MACHINES)))
def test_every_call_gets_a_verdict(call: int, argument: int, machine: str) -> None:
    assert verdict(machine, call, argument) & 0xFFFF0000 in {ALLOW, FAIL}


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program("riscv64") == b""
