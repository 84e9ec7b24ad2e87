"""What all commands share: options, and how an expected error becomes a message, a hint and an exit code."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from autograder.commands.table import plain
from autograder.course import Course
from autograder.errors import AutograderError, CourseError, listed
from autograder.files import places_without_room
from autograder.grading.penalties import apply_again

__all__ = ["COURSE", "LAB", "ROSTER_FILE", "STUDENTS", "SYSTEM_HINTS", "command", "may_replace", "say_late", "stderr"]

COURSE = click.option(
    "--course",
    "root",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Course directory; the current one if not given.",
)
LAB = click.argument("lab", callback=lambda _context, _parameter, name: name.rstrip("/"))  # as the shell completes it
ROSTER_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
STUDENTS = click.option("--student", "students", multiple=True, metavar="S", help="Only this student; may be repeated.")

_GOES_ON = "the same command goes on from there"
_STORED = "what was stored is not lost; run the command again"
SYSTEM_HINTS = {
    errno.ENOSPC: f"free some space; {_STORED}",
    errno.EDQUOT: f"the quota is used up: free some space; {_STORED}",
    errno.EROFS: f"the file system is read-only: work on a copy of the course, or remount it; {_STORED}",
    errno.EACCES: f"you may not read or write this: change its permissions, or ask its owner; {_STORED}",
    errno.EPERM: f"you may not do this here: change the permissions, or ask the owner; {_STORED}",
}
"""What to do about an error that is the whole course's, by its number."""


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
            full = places_without_room(kwargs.get("root", Path())) if error.errno == errno.ENOSPC else []
            where = error.filename or listed([str(place) for place in full])
            where = f"{where}: " if where else ""
            hint = SYSTEM_HINTS.get(error.errno or 0, "what was stored is not lost; fix this and run the command again")
            _fail(f"{where}{error.strerror or error}\nhint: {hint}")
        except KeyboardInterrupt:
            again = "with --force the same command begins again" if kwargs.get("force") else _GOES_ON
            click.echo(f"stopped: what was finished is stored; {again}", err=True)
            raise SystemExit(130) from None

    return run


def _fail(message: str) -> None:
    click.echo(f"error: {message}", err=True)
    raise SystemExit(1)


def stderr() -> Console:
    """Return a console for what is said beside the data; it finds no numbers and no markup of its own to colour."""
    return Console(stderr=True, highlight=False)


def say_late(course: Course, lab: str) -> None:
    """Apply penalties for being late again before grades are read, and say whose changed."""
    for line in apply_again(course, lab):
        stderr().print(plain(line), soft_wrap=True, markup=False)


def may_replace(target: Path, *, ours: bool, what: str) -> None:
    """Raise CourseError if a file cannot be written: its directory is missing, or it is there and not of this kind."""
    if not target.parent.is_dir():
        raise CourseError(f"{target.parent}: no such directory", hint="make it, or write somewhere else")
    if target.exists() and not ours:
        raise CourseError(f"{target}: is there already and {what}", hint="choose another name, or move it away")
