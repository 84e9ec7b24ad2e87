"""The command line: stdout is data, stderr is progress; exit 0 if the command did its job, 1 if not, 2 for usage."""

from __future__ import annotations

import importlib
import sys

import click

__all__ = ["main"]

_COMMANDS = {
    "release": "Make the students' notebooks from the instructor's sources.",
    "collect": "Take submissions from the zip file of an LMS.",
    "grade": "Grade the submissions of a lab, each in a sandbox.",
    "feedback": "Write a page for each student.",
    "export": "Write the grades as CSV, also for Canvas, Moodle and Gradescope.",
    "report": "Write a report on a class: scores, tasks, what to look at.",
    "prove": "Say which mistakes the checks of a lab would not find.",
    "fair": "Say which right answers the checks of a lab would refuse.",
    "inputs": "Say which kinds of arguments the checks of a lab have never used.",
    "verify": "Check that log and gradebook agree, and that neither was edited.",
    "demo": "Grade eight sample submissions of lab 01.",
}
"""What `--help` says of each; the modules, and nbgrader with them, are imported when one is used."""


_SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        try:
            found: click.Command = getattr(importlib.import_module(f"autograder.commands.{cmd_name}"), cmd_name)
        except KeyboardInterrupt:
            click.echo("stopped: nothing was begun", err=True)
            raise SystemExit(130) from None
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dl-scale-practicum", prog_name="autograder")
def main() -> None:
    """Release labs, collect and grade submissions, write feedback, export grades, check the records.

    \b
    Example:
      autograder grade 01_numpy_mlp --workers 2
    """
    if sys.platform != "linux":
        here = _SYSTEMS.get(sys.platform, sys.platform)
        click.echo(
            f"error: autograder: works on Linux only, for its sandbox; this is {here}\n"
            "hint: use the instructor's image (docs/docker.md: docker/build.sh instructor), or on Windows WSL2",
            err=True,
        )
        raise SystemExit(1)
    # jsonschema, which checks notebooks, imports it if it is there: three quarters of a second, for addresses with
    # letters of other alphabets, of which a notebook has none.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
