"""The labkit command: its help, its tables and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from labkit import cli, doctor
from labkit.doctor import Finding

GOOD = {"Python": [Finding("ok", "Python", "3.11.7")], "Machine": []}
BAD = {
    "Python": [Finding("ok", "Python", "3.11.7")],
    "Packages": [
        Finding("fail", "torch", "not installed", "pip install torch"),
        Finding("warn", "numpy", "old", "new"),
    ],
}


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli.main, arguments)


def commands(command: click.Command, path: str = "labkit") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{path} {name}")


COMMANDS = dict(commands(cli.main))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_and_an_example(path: str) -> None:
    command = COMMANDS[path]
    result = run(*path.split()[1:], "--help")
    assert result.exit_code == 0
    assert f"  {path}" in result.output.split("Example")[1]
    assert all(getattr(option, "help", "") for option in command.params if isinstance(option, click.Option))


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda sections: monkeypatch.setattr(doctor, "examine", lambda: sections)


def test_the_doctor_exits_with_one_only_if_something_failed(findings: Any) -> None:
    findings(GOOD)
    assert run("doctor").exit_code == 0
    findings({"Packages": BAD["Packages"][1:]})
    assert run("doctor").exit_code == 0
    findings(BAD)
    assert run("doctor").exit_code == 1


def test_the_report_is_aligned_and_ends_with_a_summary(findings: Any) -> None:
    findings(BAD)
    assert run("doctor").output.splitlines() == [
        "Python",
        "  ok    Python  3.11.7",
        "",
        "Packages",
        "  fail  torch   not installed",
        "                fix: pip install torch",
        "  warn  numpy   old",
        "                fix: new",
        "",
        "1 ok, 1 to look at, 1 failed. Fix what failed first, then run labkit doctor again.",
    ]


def test_long_details_are_wrapped_under_themselves() -> None:
    lines = click.unstyle(cli.report({"A": [Finding("ok", "what", "word " * 30)]}, width=60)).splitlines()
    assert max(len(line) for line in lines[:-1]) <= 60
    assert all(line.startswith(" " * 14 + "word") for line in lines[2:5])


def test_the_doctor_as_json_is_one_object(findings: Any) -> None:
    findings(BAD)
    result = run("doctor", "--json")
    answer = json.loads(result.output)
    assert (result.exit_code, answer["ok"]) == (1, False)
    assert answer["findings"][1] == {
        "section": "Packages",
        "status": "fail",
        "what": "torch",
        "detail": "not installed",
        "fix": "pip install torch",
    }


def test_colours_are_for_terminals_and_no_color_is_respected(findings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    findings(GOOD)
    assert "\x1b[" not in run("doctor").output
    assert "\x1b[32m" in cli.report(GOOD, width=80)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))


@pytest.mark.usefixtures("cache")
def test_data_sets_are_listed_with_their_state() -> None:
    lines = run("data", "list").output.splitlines()
    assert lines[0].split()[:2] == ["digits", "ready"]
    assert any(line.startswith("mnist ") and " MB " in line for line in lines)
    rows = json.loads(run("data", "list", "--json").output)
    assert [row["name"] for row in rows] == [line.split()[0] for line in lines]


@pytest.mark.usefixtures("cache")
def test_getting_a_data_set_prints_its_files() -> None:
    result = run("data", "get", "digits")
    assert result.exit_code == 0
    assert Path(result.output.strip()).name == "digits.npz"


@pytest.mark.usefixtures("cache")
def test_an_unknown_data_set_is_an_error_with_a_hint() -> None:
    result = run("data", "get", "minst")
    assert result.exit_code == 1
    assert 'did you mean labkit.load("mnist")?' in result.output
