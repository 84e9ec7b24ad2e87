"""The `labkit` command: examine this machine, and fetch data for work without a network."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from labkit._cluster.cli import cluster
from labkit._work.cli import lab, work

if TYPE_CHECKING:
    from labkit.doctor import Finding

__all__ = ["main"]

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dl-scale-practicum", prog_name="labkit")
def main() -> None:
    """Look after the machine and the data of the labs.

    \b
    Example:
      labkit doctor
    """


for _command in (cluster, lab, work):
    main.add_command(_command)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Examine Python, packages, machine, GPU, notebooks, data and sandbox; say what to do about each problem.

    Exits with 1 if something failed; warnings do not count.

    \b
    Examples:
      labkit doctor
      labkit doctor --json
    """
    from labkit.doctor import examine

    sections = examine()
    failed = any(found.status == "fail" for part in sections.values() for found in part)
    if as_json:
        findings = [{"section": title, **asdict(found)} for title, part in sections.items() for found in part]
        click.echo(json.dumps({"ok": not failed, "findings": findings}, indent=2, ensure_ascii=False))
    else:
        width = min(shutil.get_terminal_size().columns, 120) if sys.stdout.isatty() else 120
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        click.echo(report(sections, width=max(width, 60)), color=colour)
    sys.exit(1 if failed else 0)


def report(sections: Mapping[str, Sequence[Finding]], *, width: int) -> str:
    """Return the findings as aligned lines of at most `width` characters, with colour codes."""
    column = max((len(found.what) for part in sections.values() for found in part), default=0)
    lines = []
    for title, part in sections.items():
        if part:
            lines.append(click.style(title, bold=True))
            lines += [line for found in part for line in _lines(found, column, width)]
            lines.append("")
    return "\n".join([*lines, _summary([found for part in sections.values() for found in part])])


def _lines(found: Finding, column: int, width: int) -> list[str]:
    margin = " " * (column + 10)
    wrap = textwrap.TextWrapper(width - len(margin), break_long_words=False, break_on_hyphens=False)
    first, *rest = wrap.wrap(found.detail) or [""]
    status = click.style(f"{found.status:<4}", fg=_COLOURS[found.status], bold=found.status != "ok")
    lines = [f"  {status}  {found.what:<{column}}  {first}".rstrip(), *(margin + line for line in rest)]
    # A command to copy stays on one line.
    return [*lines, f"{margin}{click.style('fix:', bold=True)} {found.fix}"] if found.fix else lines


def _summary(findings: Sequence[Finding]) -> str:
    from labkit.doctor.software import GRADER_ALONE

    counts = {status: sum(found.status == status for found in findings) for status in _COLOURS}
    text = f"{counts['ok']} ok, {counts['warn']} to look at, {counts['fail']} failed."
    if counts["fail"]:
        return click.style(f"{text} Fix what failed first, then run labkit doctor again.", fg="red", bold=True)
    alone = any(found.what == GRADER_ALONE for found in findings)
    ready = "Ready to grade, not for the labs." if alone else "Ready for the labs."
    return click.style(f"{text} {ready}", fg="yellow" if counts["warn"] else "green", bold=True)


@main.group()
def data() -> None:
    """List the data sets and download them ahead of time.

    \b
    Example:
      labkit data list
    """


@data.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_(as_json: bool) -> None:
    """List the data sets: which are ready, and how large the others are.

    \b
    Example:
      labkit data list
    """
    from labkit._data import describe

    entries = describe()
    if as_json:
        rows = [
            {"name": e.name, "title": e.title, "kind": e.kind, "ready": e.ready, "bytes": e.size, "licence": e.licence}
            for e in entries
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    column = max(len(entry.name) for entry in entries)
    for entry in entries:
        state = "ready" if entry.ready else f"{entry.size / 1e6:.1f} MB"
        click.echo(f"{entry.name:<{column}}  {state:>8}  {entry.title} ({entry.licence})")


@data.command("get")
@click.argument("name")
def get(name: str) -> None:
    """Make the data set NAME ready for work without a network, and print its files.

    \b
    Example:
      labkit data get mnist
    """
    from labkit._data import DataError, download

    try:
        files = download(name)
    except (DataError, OSError) as error:
        raise click.ClickException(str(error)) from error
    for file in files:
        click.echo(file)
