from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import Sandbox, choose
from autograder.sandbox import landlock_sandbox as fenced
from autograder.sandbox import select as choice
from autograder.sandbox.guest import landlock


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for remembered in (choice._working_bubblewrap, choice._landlock_failure):
        remembered.cache_clear()
    yield tmp_path
    for remembered in (choice._working_bubblewrap, choice._landlock_failure):
        remembered.cache_clear()


def install(path: Path, script: str) -> None:
    program = path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.fixture(params=["landlock", "limits"])
def second(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is used in place of bubblewrap: landlock, or limits where the kernel has none."""
    if request.param == "limits":
        monkeypatch.setattr(landlock, "version", lambda: 2)
    elif reason := fenced.unfit():
        pytest.skip(reason)
    choice._landlock_failure.cache_clear()
    monkeypatch.setattr(fenced, "open_sockets", lambda **_: set())
    return str(request.param)


def why(sandbox: Sandbox) -> str:
    return sandbox.instead if sandbox.isolated else sandbox.why_not


def test_without_bubblewrap_another_is_chosen_and_the_package_is_named(path: Path, second: str) -> None:
    sandbox = choose()
    assert (sandbox.name, sandbox.isolated) == (second, second == "landlock")
    assert "apt-get install bubblewrap" in why(sandbox)
    assert "\n" not in why(sandbox)
    assert ("Landlock is older than version" in sandbox.why_not) is (second == "limits")


def test_an_old_bubblewrap_is_not_used(path: Path, second: str) -> None:
    install(path, "echo '--tmpfs DEST'")
    assert why(choose()).startswith(choice.TOO_OLD)


def test_what_a_failing_bubblewrap_says_is_passed_on(path: Path, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_setting", lambda _name: "")
    install(path, 'case "$1" in --help) echo "--size BYTES";; *) echo "bwrap: the moon is full" >&2; exit 1;; esac')
    assert "bwrap: the moon is full" in why(choose())


def test_a_landlock_that_cannot_be_had_is_an_error_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    choice._landlock_failure.cache_clear()
    with pytest.raises(SandboxError, match=r"sandbox landlock: this kernel's Landlock is older than version"):
        choose("landlock")


def test_a_machine_whose_system_calls_are_not_known_has_no_landlock_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 7)
    monkeypatch.setattr(fenced, "filter_program", lambda **_: b"")
    assert fenced.unfit() == "there is no list of system calls for this processor"


@pytest.mark.parametrize(("uid", "version", "fit"), [(0, 2, False), (0, 3, True), (1000, 5, False), (1000, 6, True)])
def test_root_makes_do_with_an_older_landlock(
    uid: int, version: int, fit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: uid)
    monkeypatch.setattr(landlock, "version", lambda: version)
    assert (fenced.unfit() == "") is fit


def test_bubblewrap_is_tried_once(path: Path) -> None:
    install(path, f'echo x >> {path}/tries; case "$1" in --help) echo "--size BYTES";; *) exit 1;; esac')
    choose()
    tries = (path / "tries").read_text()
    choose()
    assert (path / "tries").read_text() == tries


def test_a_grader_killed_while_it_tries_a_sandbox_leaves_nothing_that_the_next_does_not_clear() -> None:
    killed = """
        import os, signal
        from autograder.sandbox import select as choice, limits_only as limits
        limits.ResourceLimits.start = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        choice.complaint(choice.choose("limits"))
    """
    next_one = "from autograder.sandbox.scratch_dir import ScratchDir; ScratchDir().leave()"
    with tempfile.TemporaryDirectory(prefix="t-") as directory:  # a room's path is short
        environment = {**os.environ, "TMPDIR": directory}
        assert subprocess.run([sys.executable, "-c", dedent(killed)], env=environment, check=False).returncode == -9
        (left,) = Path(directory).iterdir()
        os.utime(left, (0, 0))
        subprocess.run([sys.executable, "-c", next_one], env=environment, check=True)
        assert not list(Path(directory).iterdir())


def test_bubblewrap_asked_for_by_name_and_missing_is_an_error_with_the_reason(path: Path) -> None:
    with pytest.raises(SandboxError, match=r"sandbox bubblewrap: .*not installed"):
        choose("bubblewrap")


def test_limits_can_be_asked_for_by_name() -> None:
    assert choose("limits").name == "limits"


def test_the_environment_can_ask_for_one_and_the_caller_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRADER_SANDBOX", "limits")
    assert choose().name == "limits"
    monkeypatch.setenv("AUTOGRADER_SANDBOX", "gvisor")
    assert choose("limits").name == "limits"
    with pytest.raises(SandboxError, match="'gvisor'"):
        choose()


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(SandboxError, match=r"(?s)'gvisor'.*bubblewrap, landlock, limits"):
        choose("gvisor")


@pytest.mark.parametrize(
    ("settings", "uid", "reason"),
    [
        ({"kernel/unprivileged_userns_clone": "0"}, 1000, choice.CLONE_OFF),
        ({"user/max_user_namespaces": "0"}, 1000, choice.NONE_LEFT),
        ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, 1000, choice.APPARMOR),
        ({"kernel/unprivileged_userns_clone": "0"}, 0, choice.OTHER.format(message="bwrap: no")),
        ({}, 1000, choice.OTHER.format(message="bwrap: no")),
    ],
)
def test_the_setting_that_forbids_namespaces_is_named(
    settings: dict[str, str], uid: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "_setting", lambda name: settings.get(name, ""))
    monkeypatch.setattr("os.getuid", lambda: uid)
    assert choice.explain("bwrap: no") == reason
