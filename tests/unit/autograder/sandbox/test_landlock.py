from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox.guest import landlock, namespaces


def confined(tmp_path: Path, source: str, *places: str) -> str:
    """Return what source prints in a process that may write to these places only."""
    program = (
        "import os, sys, pathlib\n"
        "from autograder.sandbox.guest import landlock, namespaces\n"
        "namespaces._prctl(namespaces._PR_SET_NO_NEW_PRIVS, 1)\n"
        f"print(landlock.confine_writing({[*places]!r}))\n"
        f"root = pathlib.Path({str(tmp_path)!r})\n" + source
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    supported, _, said = done.stdout.partition("\n")
    if supported == "False":
        pytest.skip("this kernel has no Landlock")
    return said.strip() or done.stderr.strip().split("\n")[-1]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("open/one", "open/two", "closed"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "closed" / "file").write_text("as it was")
    return tmp_path


@pytest.mark.parametrize(
    "action",
    [
        "(root / 'closed' / 'file').write_text('changed')",
        "os.truncate(root / 'closed' / 'file', 0)",
        "(root / 'closed' / 'file').unlink()",
        "(root / 'closed' / 'new').mkdir()",
        "(root / 'closed' / 'new').symlink_to('/')",
        "os.rename(root / 'closed' / 'file', root / 'open' / 'file')",
        "os.link(root / 'closed' / 'file', root / 'open' / 'file')",
        "os.mkfifo(root / 'closed' / 'new')",
    ],
)
def test_nothing_elsewhere_can_be_changed_even_by_its_owner(tree: Path, action: str) -> None:
    said = confined(tree, action, str(tree / "open"))
    assert said.startswith(("PermissionError", "OSError: [Errno 18]"))
    assert (tree / "closed" / "file").read_text() == "as it was"


def test_what_honest_programs_do_is_allowed(tree: Path) -> None:
    source = """
import socket, subprocess, tempfile
file = root / "open" / "one" / "file"
file.write_text((root / "closed" / "file").read_text())
file = file.rename(root / "open" / "two" / "moved")
os.truncate(file, 2)
open("/dev/null", "w").write("x")
reader, writer = os.pipe()
open(f"/dev/fd/{writer}", "w").write("through a pipe")
memory = os.memfd_create("memory")
os.write(memory, b"x")
left, right = socket.socketpair()
socket.socket(socket.AF_UNIX).bind(str(root / "open" / "socket"))
print(file.read_text(), os.read(reader, 99).decode(), subprocess.run(["echo", "run"], capture_output=True).stdout)
"""
    assert confined(tree, source, str(tree / "open"), "/dev/null") == "as through a pipe b'run\\n'"


def test_children_are_confined_too_and_missing_places_passed_over(tree: Path) -> None:
    source = f"print(os.system('echo x 2>/dev/null > {tree}/closed/file'))"
    assert confined(tree, source, str(tree / "open"), "/dev/null", "/nowhere") != "0"
    assert (tree / "closed" / "file").read_text() == "as it was"


def test_without_landlock_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "_CREATE_RULESET", 9999)  # no such system call
    assert landlock.confine_writing(["/tmp"]) is False


def test_the_filter_of_system_calls_is_taken_by_the_kernel() -> None:
    from autograder.sandbox.seccomp import filter_program

    if not filter_program():
        pytest.skip("there is no list of system calls for this machine")
    program = (
        "import os, socket\n"
        "from autograder.sandbox import seccomp; from autograder.sandbox.guest import namespaces\n"
        "namespaces._prctl(namespaces._PR_SET_NO_NEW_PRIVS, 1)\n"
        "namespaces.restrict_system_calls(seccomp.filter_program())\n"
        "print(open('/proc/self/status').read().split('Seccomp:')[1].split()[0])\n"
        "socket.socket(socket.AF_VSOCK)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2"
    assert done.stderr.strip().endswith("Address family not supported by protocol")


def test_a_system_call_that_fails_is_named_with_its_arguments() -> None:
    with pytest.raises(OSError, match="mount tmpfs /nowhere tmpfs") as caught:
        namespaces._mount("tmpfs", "/nowhere", "tmpfs", 0)
    assert caught.value.errno in (1, 2)
    assert os.strerror(caught.value.errno) in str(caught.value)
