"""What all commands share: options, and how an expected error becomes a message, a hint and an exit code."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from autograder.errors import AutograderError

__all__ = ["COURSE", "LAB", "STUDENTS", "command"]

COURSE = click.option(
    "--course",
    "root",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Course directory; the current one if not given.",
)
LAB = click.argument("lab", callback=lambda _context, _parameter, name: name.rstrip("/"))  # as the shell completes it
STUDENTS = click.option("--student", "students", multiple=True, metavar="S", help="Only this student; may be repeated.")

_STORED = "what was stored is not lost; run the command again"
_HINTS = {
    errno.ENOSPC: f"free some space; {_STORED}",
    errno.EDQUOT: f"the quota is used up: free some space; {_STORED}",
    errno.EROFS: f"the file system is read-only: work on a copy of the course, or remount it; {_STORED}",
    errno.EACCES: f"you may not read or write this: change its permissions, or ask its owner; {_STORED}",
    errno.EPERM: f"you may not do this here: change the permissions, or ask the owner; {_STORED}",
}


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn expected errors into a message and an exit code."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except AutograderError as error:
            _fail(str(error))
        except BrokenPipeError:
            raise  # nobody reads on, which click knows to be no error
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            hint = _HINTS.get(error.errno or 0, "what was stored is not lost; mend this and run the command again")
            _fail(f"{where}{error.strerror or error}\nhint: {hint}")
        except KeyboardInterrupt:
            click.echo("stopped: what was finished is stored; the same command goes on from there", err=True)
            raise SystemExit(130) from None

    return run


def _fail(message: str) -> None:
    click.echo(f"error: {message}", err=True)
    raise SystemExit(1)
