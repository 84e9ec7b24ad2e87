"""The autograder command: help, examples, exit codes, and errors that say what to do."""

from __future__ import annotations

import errno
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from autograder.cli import main
from autograder.commands import grade as grade_module
from autograder.errors import CourseError

ROOT = Path(__file__).parents[3]


def _commands(command: click.Command, path: str = "autograder") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, f"{path} {name}")


COMMANDS = dict(_commands(main))


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_and_an_example(path: str) -> None:
    result = _run(*path.split()[1:], "--help")
    assert result.exit_code == 0
    assert f"  {path}" in result.output.split("Example")[1]
    options = [option for option in COMMANDS[path].params if isinstance(option, click.Option)]
    assert all(option.help for option in options)


def test_the_page_about_the_commands_is_what_they_say() -> None:
    specification = importlib.util.spec_from_file_location("make_cli", ROOT / "docs/make_cli.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    written = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert written == module.render(), "run: python docs/make_cli.py"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CourseError("x: broken", hint="fix it"), "error: x: broken\nhint: fix it\n"),
        (
            OSError(errno.ENOSPC, "No space left on device", "f"),
            "error: f: No space left on device\nhint: free some sp",
        ),
        (OSError(errno.EROFS, "Read-only file system", "f"), "error: f: Read-only file system\nhint: the file system"),
        (PermissionError(errno.EACCES, "Permission denied", "f"), "error: f: Permission denied\nhint: you may not"),
        (OSError("odd"), "error: odd\nhint: what was stored is not lost"),
    ],
)
def test_an_expected_error_is_a_message_with_a_hint_and_exit_code_one(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(grade_module, "grade_lab", fail)
    result = _run("grade", "lab")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(message)


def test_on_another_system_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    result = _run("grade", "lab")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "error: autograder: works on Linux only, for its sandbox; this is macOS\n"
        "hint: use the instructor's image (docs/docker.md: docker/build.sh instructor), or on Windows WSL2\n"
    )


def test_ctrl_c_says_that_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(grade_module, "grade_lab", stop)
    result = _run("grade", "lab")
    assert result.exit_code == 130
    assert result.stderr == "stopped: what was finished is stored; the same command goes on from there\n"


def test_an_error_that_nobody_expected_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(grade_module, "grade_lab", fail)
    assert isinstance(_run("grade", "lab").exception, ZeroDivisionError)


def test_a_lab_may_be_named_as_the_shell_completes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def note(*arguments: Any, **_: Any) -> list[Any]:
        asked.append(arguments)
        return []

    monkeypatch.setattr(grade_module, "grade_lab", note)
    assert _run("grade", "01_tiny/", "--student", "-x", "--student", "b").exit_code == 0
    assert asked == [(Path(), "01_tiny", ("-x", "b"))]
