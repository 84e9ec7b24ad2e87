from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import labkit
from autograder.sandbox import Job, Policy, ProcessLimits, bubblewrap
from autograder.sandbox.bubblewrap import Bubblewrap, BwrapOptions
from autograder.sandbox.guest.request import ColdStart

AS_ROOT = BwrapOptions(
    "/usr/bin/bwrap", as_root=True, filtered=True, own_proc=True, seal_users=False, bounds_files=True
)
AS_USER = replace(AS_ROOT, as_root=False, seal_users=True)
LEFT_TO_BWRAP = replace(AS_USER, bounds_files=False)
MOUNTS = ("--bind", "--ro-bind", "--dev-bind", "--bind-try", "--ro-bind-try")


def started(
    way: BwrapOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **job: Any
) -> tuple[list[str], ColdStart]:
    """Return the arguments that bwrap would be started with, and what the launcher would be told."""
    kept: list[Any] = []
    monkeypatch.setattr(bubblewrap, "spawn", lambda told, make, **_options: kept.extend([make(["8", "9"]), told]))
    inner = job.pop("beside", None)
    made = Job(program=tmp_path / "program.py", directory=tmp_path, **job)
    if inner is None:
        Bubblewrap(way).start(made)
    else:
        Bubblewrap(way).start_host(made, inner)
    return kept[0], kept[1]


def command(way: BwrapOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **job: Any) -> list[str]:
    """Return the arguments that bwrap would be started with."""
    return started(way, tmp_path, monkeypatch, **job)[0]


def mounts(arguments: list[str]) -> list[tuple[str, str, str]]:
    """Return (kind, source, target) of each mount of a host path."""
    walls = arguments[: arguments.index("--")]
    return [(word, walls[at + 1], walls[at + 2]) for at, word in enumerate(walls) if word in MOUNTS]


@pytest.mark.parametrize("way", [AS_ROOT, AS_USER, LEFT_TO_BWRAP])
def test_every_namespace_is_its_own_and_dies_with_the_grader(
    way: BwrapOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, told = started(way, tmp_path, monkeypatch)
    for kind in ("ipc", "net", "pid", "uts"):
        assert f"--unshare-{kind}" in arguments
    assert {"--unshare-cgroup-try", "--die-with-parent", "--new-session"} <= set(arguments)
    assert ("--seccomp" in arguments) is (told["filter"] == b"")


@pytest.mark.parametrize("way", [AS_ROOT, AS_USER, LEFT_TO_BWRAP])
def test_no_host_path_is_writable(way: BwrapOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = command(way, tmp_path, monkeypatch, files=tmp_path, policy=Policy(read_only=(Path("/srv"),)))
    assert {kind for kind, _, _ in mounts(arguments)} == {"--ro-bind"}
    assert ("--ro-bind", "/srv", "/srv") in mounts(arguments)


def test_the_course_is_not_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(labkit.__file__).parents[1]
    sources = {Path(source) for _, source, _ in mounts(command(AS_ROOT, tmp_path, monkeypatch))}
    assert not sources & {root, *root.parents, root / "solutions", root / "tests", root / "autograder"}


def test_what_is_made_for_mounts_is_closed_again_at_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = command(AS_USER, tmp_path, monkeypatch)
    last_mount = max(at for at, word in enumerate(arguments) if word in (*MOUNTS, "--tmpfs", "--dir"))
    assert arguments.index("--remount-ro") > last_mount
    assert [arguments[at + 1] for at, word in enumerate(arguments) if word == "--remount-ro"] == ["/dev", "/"]


def test_every_tmpfs_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = ProcessLimits(scratch_mib=2, shared_memory_mib=1)
    arguments = command(AS_ROOT, tmp_path, monkeypatch, limits=limits)
    sizes = {
        arguments[at + 1]: int(arguments[at - 1])
        for at, word in enumerate(arguments)
        if word == "--tmpfs" and arguments[at - 2] == "--size"
    }
    assert sizes == {"/tmp": 2 << 20, "/dev/shm": 1 << 20}
    assert arguments.count("--tmpfs") == 2


def test_root_gives_itself_up_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (first, told), (_, again) = (
        started(AS_ROOT, tmp_path, monkeypatch, limits=ProcessLimits(files=7)) for _ in range(2)
    )
    assert told["uid"] and again["uid"] and told["uid"] != again["uid"]
    assert not told["in_user_namespace"] and not told["read_all"]
    assert first[first.index("--cap-drop") + 1] == "ALL"
    assert (told["inodes"], told["tmpfs"]) == (7, ["/tmp", "/dev/shm"])  # for which it asks for the right to mount


def test_an_ordinary_user_gets_a_sealed_user_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, told = started(LEFT_TO_BWRAP, tmp_path, monkeypatch)
    assert {"--unshare-user", "--disable-userns"} <= set(arguments)
    assert "--cap-add" not in arguments and not told["tmpfs"] and not told["in_user_namespace"] and told["uid"] is None
    arguments, told = started(AS_USER, tmp_path, monkeypatch, limits=ProcessLimits(files=7))
    assert {"--unshare-user", "CAP_SYS_ADMIN"} <= set(arguments)
    assert (told["uid"], told["in_user_namespace"], told["seal"], told["inodes"]) == (1000, True, True, 7)


def test_devices_are_let_in_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = command(AS_USER, tmp_path, monkeypatch, policy=Policy(devices=(Path("/dev/nvidia0"),)))
    assert ("--dev-bind", "/dev/nvidia0", "/dev/nvidia0") in mounts(arguments)
    assert arguments.index("/dev/nvidia0") > arguments.index("--dev")


def test_users_and_hosts_are_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = command(AS_ROOT, tmp_path, monkeypatch)
    shown = {target: source for _, source, target in mounts(arguments)}
    assert shown["/etc/passwd"] == str(tmp_path / "passwd")
    assert "student" in (tmp_path / "passwd").read_text()
    assert (tmp_path / "hosts").read_text().startswith("127.0.0.1 localhost")


def test_before_linux_5_14_the_users_other_processes_are_allowed_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "threads_of", lambda _uid: 100)
    for release, allowed in (("5.13.0-1-amd64", 110), ("5.14.0", 10), ("6.1", 10)):
        monkeypatch.setattr("os.uname", lambda release=release: type("uname", (), {"release": release}))
        _, told = started(AS_USER, tmp_path, monkeypatch, limits=ProcessLimits(processes=10))
        assert told["limits"]["NPROC"] == allowed


@pytest.mark.parametrize("way", [AS_ROOT, AS_USER, LEFT_TO_BWRAP])
def test_a_host_of_inner_walls_keeps_the_rights_to_make_them(
    way: BwrapOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, told = started(way, tmp_path, monkeypatch, beside={"inner.py": tmp_path / "inner.py"})
    assert {"CAP_SYS_ADMIN", "CAP_NET_ADMIN"} <= set(kept)
    assert not {"--seccomp", "--disable-userns"} & set(kept)
    assert told["uid"] is None and not told["limits"] and not told["filter"]
    assert ("--ro-bind", str(tmp_path / "inner.py"), "/run/autograder/inner.py") in mounts(kept)
    assert {kind for kind, _, _ in mounts(kept)} == {"--ro-bind"}
    assert {"--unshare-net", "--unshare-pid", "--die-with-parent"} <= set(kept)


def test_what_is_begun_goes_on_when_its_grader_is_killed_so_that_it_can_end_by_itself(tmp_path: Path) -> None:
    """Were it ended by its report, which nobody reads any more, the child that it has made would wait forever."""
    bwrap, killed, mark = tmp_path / "bwrap", tmp_path / "killed", tmp_path / "mark"
    bwrap.write_text(f"""#!/bin/bash
while [ "$1" != --info-fd ]; do shift; done
for _ in {{1..6000}}; do [ -e {killed} ] && break; sleep 0.01; done
echo '{{"child-pid": 1' >&"$2"
echo went on >{mark}
""")
    bwrap.chmod(0o755)
    grader = f"""
import os, subprocess
from pathlib import Path
from autograder.sandbox import Job
from autograder.sandbox.bubblewrap import Bubblewrap, BwrapOptions
from autograder.sandbox.guest.request import ColdStart
start = subprocess.Popen.__init__
def fatal(self, *arguments, **options):
    start(self, *arguments, **options)
    os.kill(os.getpid(), 9)
subprocess.Popen.__init__ = fatal
way = BwrapOptions({str(bwrap)!r}, as_root=False, filtered=False, own_proc=True, seal_users=False, bounds_files=False)
Bubblewrap(way).start(Job(program=Path(), directory=Path({str(tmp_path)!r})))
"""
    assert subprocess.run([sys.executable, "-c", grader], check=False).returncode == -9
    killed.touch()  # bwrap is not asked for its parent: it may have been killed before bwrap's first instruction
    for _ in range(3000):
        if mark.exists():
            return
        time.sleep(0.01)
    raise AssertionError("its report ended it")
