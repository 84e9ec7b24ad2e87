"""Every error that the autograder raises on purpose.

AutograderError             where: what, then a hint
├── SourceError             a lab's source cannot be published as it is
├── CourseError             the course directory, its database or a lab in it is not usable
├── SubmissionError         one student's submission cannot be read
└── SandboxError            the sandbox could not be started
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

__all__ = [
    "AutograderError",
    "CourseError",
    "SandboxError",
    "SourceError",
    "SubmissionError",
    "counted",
    "cut",
    "did_you_mean",
    "in_one_line",
    "listed",
]
_NAMED = 5
"""How many of many a line names."""
_LONGEST_NAME = 200


class AutograderError(Exception):
    """An error for a person: `where: what`, then `hint: the fix`."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\nhint: {self.hint}" if self.hint else message


class SourceError(AutograderError):
    """A lab's source breaks a rule; nothing of it is published."""


class CourseError(AutograderError):
    """The course directory, its gradebook or the lab asked for cannot be used."""


class SubmissionError(AutograderError):
    """One submission cannot be read; the others are not affected."""


class SandboxError(AutograderError):
    """The sandbox could not be set up; nothing was executed."""


def in_one_line(error: Exception) -> str:
    """Return an error and its hint as one line, for a table and for the record."""
    return "; ".join(str(error).replace("\nhint: ", "\n").splitlines())


def counted(count: float, what: str) -> str:
    """Return a number and what it counts, in the plural unless it is one."""
    return f"{count:g} {what}{'' if count == 1 else 's'}"


def cut(text: str, longest: int) -> str:
    """Return a text, the end of it left out if it is longer than this."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def listed(names: Sequence[str]) -> str:
    """Return the first of these names, long ones cut, and how many more there are."""
    more = len(names) - _NAMED
    named = ", ".join(cut(name, _LONGEST_NAME) for name in names[:_NAMED])
    return named + (f" and {more} more" if more > 0 else "")


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return a question, and a blank, with the one name that begins so, or is most like it; empty if none is."""
    begun = [each for each in known if name and each.startswith(name)]
    near = begun if len(begun) == 1 else difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}? " if near else ""
