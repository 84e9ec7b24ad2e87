"""Writes docs/cli.md from the help of every command: python docs/make_cli.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from autograder.cli import main as autograder
from labkit.cli import main as labkit

_WIDTH = 100
_HEAD = """\
# The command line

Generated from the commands' own help by `python docs/make_cli.py`; do not edit.

stdout is data, for a person or, with `--json`, for a machine; progress and errors go to stderr, errors with a hint.
Colours are left out where there is no terminal, and where `NO_COLOR` is set.

| exit code | meaning |
|---|---|
| 0 | the command did its job, also if a student failed |
| 1 | it could not; the message says why and what to do |
| 2 | wrong usage |
| 130 | stopped by Ctrl-C; what was finished is stored, and the same command goes on |

`autograder grade --json` prints one object a student and line, as each is stored:

| key | value |
|---|---|
| `student`, `lab` | as in the gradebook |
| `status` | `graded`, `partly graded`, `tampered`, `unreadable`, `missing` or `failed` |
| `score`, `max_score` | points, with those given by hand and late penalties |
| `seconds` | wall-clock time of the run; 0 if nothing was run |
| `messages` | list of texts, one line each: what a person has to know |
| `to_grade` | number of written answers that wait for a person |
| `was` | the score before, if the gradebook held another one; else null |
| `unchanged` | true if nothing has changed since it was graded, and it was not run again |
| `cells` | list: `notebook`, `grade_id`, `points` (null: not by a test), `max_points`, `message` of each graded cell |
| `cells[].by_hand` | what a person gave, where that is something else than `points`: it counts; else null |
| `cells[].failed` | list: `title`, `hidden` and `message` of each case that failed |
| `sandbox`, `isolated` | where it ran, and whether student code was kept from this machine's files and network |
"""


def render() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *_sections(autograder, "autograder"), *_sections(labkit, "labkit")])


def _sections(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    context = click.Context(command, parent, info_name=name, terminal_width=_WIDTH, **command.context_settings)
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for below in sorted(command.list_commands(context)):
            member = command.get_command(context, below)
            assert member is not None
            yield from _sections(member, below, context)


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(render(), encoding="utf-8")
