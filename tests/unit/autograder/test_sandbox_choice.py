from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import choice, choose


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    choice._working_bubblewrap.cache_clear()
    yield tmp_path
    choice._working_bubblewrap.cache_clear()


def install(path: Path, script: str) -> None:
    program = path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_without_bubblewrap_limits_are_chosen_and_the_package_is_named(path: Path) -> None:
    sandbox = choose()
    assert (sandbox.name, sandbox.isolated) == ("limits", False)
    assert "apt-get install bubblewrap" in sandbox.why_not
    assert "\n" not in sandbox.why_not


def test_an_old_bubblewrap_is_not_used(path: Path) -> None:
    install(path, "echo '--tmpfs DEST'")
    assert choose().why_not == choice.TOO_OLD


def test_what_a_failing_bubblewrap_says_is_passed_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_setting", lambda _name: "")
    install(path, 'case "$1" in --help) echo "--size BYTES";; *) echo "bwrap: the moon is full" >&2; exit 1;; esac')
    assert "bwrap: the moon is full" in choose().why_not


def test_bubblewrap_is_tried_once(path: Path) -> None:
    install(path, f'echo x >> {path}/tries; case "$1" in --help) echo "--size BYTES";; *) exit 1;; esac')
    choose()
    tries = (path / "tries").read_text()
    choose()
    assert (path / "tries").read_text() == tries


def test_bubblewrap_asked_for_by_name_and_missing_is_an_error_with_the_reason(path: Path) -> None:
    with pytest.raises(SandboxError, match=r"sandbox bubblewrap: .*not installed"):
        choose("bubblewrap")


def test_limits_can_be_asked_for_by_name() -> None:
    assert choose("limits").name == "limits"


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(SandboxError, match=r"(?s)'gvisor'.*bubblewrap or limits"):
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
