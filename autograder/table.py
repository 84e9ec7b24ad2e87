"""The table that a person sees after grading: student, points, status, and where to look."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from autograder.grade import Outcome
from autograder.model import CellScore, Result, Status

__all__ = ["messages", "plain", "show_table", "summary"]

_COLOURS = {Status.GRADED: "green", Status.FAILED: "bold red", Status.MISSING: "dim"}
_HEADER = ("student", "points", "status", "where to look")
_GAP = "  "
_MAX_NAMED = 3
_NARROWEST = 60


def show_table(outcomes: Sequence[Outcome]) -> None:
    """Print one line a student, in their order, on stdout; on a terminal, cut to its width."""
    outcomes = sorted(outcomes, key=lambda outcome: outcome.result.student)
    rows = [_row(outcome.result) for outcome in outcomes]
    widths = [max(cell_len(row[column]) for row in [_HEADER, *rows]) for column in range(3)]
    console = Console(highlight=False, soft_wrap=True)
    width = _width()
    console.print(_line(_HEADER, widths, width, "bold", "bold"))
    for row, outcome in zip(rows, outcomes, strict=True):
        console.print(_line(row, widths, width, _COLOURS.get(outcome.result.status, "yellow"), ""))


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield how many ended how, and what is left for a person to do."""
    statuses = Counter(str(outcome.result.status) for outcome in outcomes)
    counts = ", ".join(f"{statuses[s]} {s}" for s in Status if statuses[s])
    again = sum(outcome.unchanged for outcome in outcomes)
    yield f"{len(outcomes)} students: {counts}" + (f"; {again} of them unchanged, not run again" if again else "")
    if to_grade := sum(outcome.to_grade for outcome in outcomes):
        yield f"{_written(to_grade)} to grade by hand: nbgrader formgrader"


def messages(outcome: Outcome) -> list[str]:
    """Return what is to be said about one submission, each message on one line."""
    written = [f"{_written(outcome.to_grade)} to grade by hand"] if outcome.to_grade else []
    return [*outcome.result.messages, *written]


def plain(text: str) -> str:
    """Return student text without control characters: it is data."""
    return "".join(c if c.isprintable() else " " for c in text)


def _row(result: Result) -> tuple[str, str, str, str]:
    points = f"{result.score:g}/{result.max_score:g}"
    return plain(result.student), points, str(result.status), plain("; ".join(_look(result)))


def _line(row: Sequence[str], widths: Sequence[int], width: int | None, status_style: str, style: str) -> Text:
    student, points, status, look = row
    left = f"{set_cell_size(student, widths[0])}{_GAP}{points:>{widths[1]}}{_GAP}"
    status = set_cell_size(status, widths[2])
    if width is not None:
        look = _cut(look, max(width, _NARROWEST) - cell_len(left + status + _GAP))
    line = Text(left, style=style)
    line.append(status, status_style)
    line.append(f"{_GAP}{look}", style)
    line.rstrip()
    return line


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def _width() -> int | None:
    """Return the width of the terminal; None where the table goes to a file or another program, uncut."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    return None


def _look(result: Result) -> Iterator[str]:
    """Yield what a person has to know, and where points were lost: checks by name, with the first case that failed."""
    yield from result.messages
    if result.status == Status.UNREADABLE:
        return
    checks = [cell for cell in result.cells if cell.points is not None]
    lost = [cell for cell in checks if (cell.points or 0) < cell.max_points]
    blank = [cell for cell in lost if _not_implemented(cell)]
    if blank:
        yield f"{_how_many(blank, checks)} not implemented"
    wrong = [cell for cell in lost if cell not in blank]
    for cell in wrong[:_MAX_NAMED]:
        yield f"{cell.grade_id} {cell.points:g}/{cell.max_points:g}{_why(cell)}"
    if len(wrong) > _MAX_NAMED:
        yield f"{len(wrong) - _MAX_NAMED} more lost points"


def _how_many(some: Sequence[CellScore], checks: Sequence[CellScore]) -> str:
    if len(some) <= _MAX_NAMED < len(checks):
        return ", ".join(cell.grade_id.removesuffix("-check") for cell in some)
    return f"{len(some)} of {len(checks)} tasks"


def _not_implemented(cell: CellScore) -> bool:
    errors = {case["error"] for case in cell.cases if not case["passed"]}
    return errors == {"NotImplementedError"} or cell.message.startswith("NotImplementedError")


def _why(cell: CellScore) -> str:
    """Say the first thing that is wrong; a cell without cases or message is a written answer that is not there."""
    failed = [case["title"] for case in cell.cases if not case["passed"]]
    text = failed[0] if failed else cell.message.strip() or "no answer"
    return f": {text.splitlines()[0]}"


def _written(number: int) -> str:
    return f"{number} written answer{'' if number == 1 else 's'}"
