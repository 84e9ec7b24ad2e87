"""CSV files for spreadsheets and learning management systems: read with their quirks, written without formulas."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import CourseError

__all__ = ["Export", "Table", "address", "number", "points_in", "read_table", "text", "written"]

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are full-width
_HARMLESS = re.compile(r"[\w.@+-]*")
_MAX_BYTES = 50 * 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Export:
    """A file of grades, and what a person has to know about it."""

    content: str
    rows: int
    notes: list[str] = field(default_factory=list)
    """Whom it leaves out, and why; nobody is left out silently."""


@dataclass(frozen=True)
class Table:
    """A CSV file: its column names and its rows, which have as many fields each."""

    path: Path
    header: list[str]
    rows: list[list[str]]

    def column(self, *names: str) -> int:
        """Return where the first of these columns is, whatever its case; -1 if none is there."""
        known = [name.strip().casefold() for name in self.header]
        return next((known.index(name.casefold()) for name in names if name.casefold() in known), -1)


def read_table(path: Path) -> Table:
    """Read a CSV file as Excel, Canvas or Moodle writes it: with or without a byte order mark, commas or semicolons.

    Raises CourseError if it is no such file.
    """
    wrong = "export it again as CSV, UTF-8"
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise CourseError(
            f"{path}: cannot be read: {error.strerror}", hint="give the file that was exported"
        ) from error
    if len(data) > _MAX_BYTES or (b"\0" in data and not data.startswith(_UTF16)):
        raise CourseError(f"{path}: not a CSV file", hint=wrong)
    content = _decoded(data)
    first = content.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if any(row)]
    except csv.Error as error:
        raise CourseError(f"{path}: not a CSV file: {error}", hint=wrong) from error
    if not rows:
        raise CourseError(f"{path}: is empty", hint=wrong)
    width = len(rows[0])
    return Table(path, rows[0], [(row + [""] * width)[:width] for row in rows[1:]])


def _decoded(data: bytes) -> str:
    if data.startswith(_UTF16):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")  # what Excel saves as plain CSV in Western Europe and America


def written(rows: Iterable[Sequence[str]], *, newline: str = "\n") -> str:
    """Return rows as CSV."""
    content = io.StringIO()
    csv.writer(content, lineterminator=newline).writerows(rows)
    return content.getvalue()


def text(value: str) -> str:
    """Return text on one line that a spreadsheet does not run as a formula."""
    line = "".join(c if c.isprintable() else " " for c in value)
    return f"'{line}" if line.lstrip().startswith(_FORMULA) else line


def address(value: str) -> str:
    """Return an identifier or e-mail address by which a learning management system finds a person.

    An apostrophe before it would lose the person, so what consists of letters, digits and . _ @ + - only is left as it
    is: without a parenthesis, an equals sign, a bar or an exclamation mark no spreadsheet calls anything.
    """
    return value if _HARMLESS.fullmatch(value) else text(value)


def points_in(field: str) -> float:
    """Return the points that a system's field says, with a point or a comma; 0 if it says none."""
    try:
        points = float(field.strip().replace(",", "."))
    except ValueError:
        return 0.0
    return points if 0 < points < math.inf else 0.0


def number(value: float) -> str:
    """Return points with all their digits and a decimal point."""
    return f"{value:.10g}"
