"""`labkit work` and `labkit lab`: a student's own copies of the labs, and JupyterLab on them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from labkit._system import is_root
from labkit._work.copies import WorkError, bring_up_to_date

__all__ = ["lab", "work"]


def _folders(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--work", "own", type=click.Path(path_type=Path), default=Path("work"), show_default=True,
            help="The folder of your own copies.",
        ),
        click.option(
            "--labs", "released", type=click.Path(path_type=Path), default=Path("labs"), show_default=True,
            help="The folder of the labs as they were released.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@_folders
def work(labs: tuple[str, ...], released: Path, own: Path) -> None:
    """Make your own copy of each lab, or bring it up to date where the lab was released again.

    A copy is made once. Later your answers, your own cells, their order and your files stay as they are; checks and
    prose become those of the new release, and what changed is printed. To begin a lab again, rename its notebook. A
    notebook that cannot be read is left alone, and a copy that can be is named; then the exit code is 1.

    \b
    Examples:
      labkit work
      labkit work 01_numpy_mlp
    """
    if not _bring_up_to_date(released, own, labs):
        raise SystemExit(1)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTERLAB'S OPTION]...")
@_folders
def lab(options: tuple[str, ...], released: Path, own: Path) -> None:
    """Do what `labkit work` does, then open JupyterLab on your copies. It takes JupyterLab's own options.

    \b
    Examples:
      labkit lab
      labkit lab --port 9000 --no-browser
    """
    from labkit._work.jupyterlab import command, settings

    _bring_up_to_date(released, own, ())
    root = is_root()
    if root:
        click.echo(
            "note: you are root, whom JupyterLab turns away unless it is told --allow-root: it is told", err=True
        )
    arguments = command(own, options, root=root)
    os.environ.update(settings(os.environ))
    sys.stdout.flush()
    os.execv(arguments[0], arguments)


def _bring_up_to_date(released: Path, own: Path, labs: tuple[str, ...]) -> bool:
    """Return whether each copy could be read."""
    whole = True
    try:
        for copy in bring_up_to_date(released, own, labs):
            click.echo(f"{copy.lab}: {copy.what}" + (f": {copy.path}" if copy.what == "new" else ""))
            for note in copy.notes:
                click.echo(f"  {note}")
            whole = whole and not copy.unread
    except (WorkError, OSError) as error:
        raise click.ClickException(str(error)) from error
    return whole
