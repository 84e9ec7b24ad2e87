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

from autograder.errors import counted, cut
from autograder.grading.outcome import Outcome
from autograder.model import CellScore, Result, Status
from autograder.protocol import KERNEL_ENDED, NOT_RUN

__all__ = ["messages", "plain", "show_table", "summary"]

_COLOURS = {Status.GRADED: "green", Status.FAILED: "bold red", Status.MISSING: "dim"}
_HEADER = ("student", "points", "status", "where to look")
_GAP = "  "
_MAX_NAMED = 3
_MAX_LINES = 3
_WIDEST_NAME = 32
_NARROWEST = 72
_UNBOUNDED = 10_000
_LONGEST = 500
"""So much of one reason is shown: the feedback page has all of it."""
_ENDED = {"TimeLimit", "ProcessDied"}
"""The errors of cases at which the connection to the student's process ended."""


def show_table(outcomes: Sequence[Outcome]) -> None:
    """Print the students in their order on stdout, on a terminal within its width and in colour."""
    outcomes = sorted(outcomes, key=lambda outcome: outcome.result.student)
    rows = [_row(outcome) for outcome in outcomes]
    widths = [max(cell_len(row[column]) for row in [_HEADER, *rows]) for column in range(3)]
    console = Console(highlight=False, soft_wrap=True)
    _print(console, _HEADER, widths, "bold", "bold")
    for row, outcome in zip(rows, outcomes, strict=True):
        _print(console, row, widths, _COLOURS.get(outcome.result.status, "yellow"), "")


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield how many ended how, and what is left for a person to do."""
    statuses = Counter(str(outcome.result.status) for outcome in outcomes)
    counts = ", ".join(f"{statuses[s]} {s}" for s in Status if statuses[s])
    again = sum(outcome.unchanged for outcome in outcomes)
    yield f"{counted(len(outcomes), 'student')}: {counts}" + (f"; {again} unchanged, not run again" if again else "")
    if changed := sum(outcome.was is not None for outcome in outcomes):
        yield f"{counted(changed, 'score')} changed"
    if to_grade := sum(outcome.to_grade for outcome in outcomes):
        yield f"{counted(to_grade, 'written answer')} to grade by hand: jupyter lab, menu Nbgrader, Formgrader"


def messages(outcome: Outcome) -> list[str]:
    """Return what is to be said about one submission, each message on one line."""
    written = [f"{counted(outcome.to_grade, 'written answer')} to grade by hand"] if outcome.to_grade else []
    return [*outcome.result.messages, *outcome.result.notes, *written]


def plain(text: str) -> str:
    """Return student text without control characters: it is data."""
    return "".join(c if c.isprintable() else " " for c in text)


def _row(outcome: Outcome) -> tuple[str, str, str, str]:
    result = outcome.result
    student = plain(result.student)
    if cell_len(student) > _WIDEST_NAME:
        student = set_cell_size(student, _WIDEST_NAME - 1) + "…"
    points = f"{result.score:g}/{result.max_score:g}" if outcome.stored else "-"
    return student, points, str(result.status), plain("; ".join(cut(part, _LONGEST) for part in _look(outcome)))


def _print(console: Console, row: Sequence[str], widths: Sequence[int], status_style: str, style: str) -> None:
    student, points, status, look = row
    most = None if status == str(Status.FAILED) else _MAX_LINES  # what the instructor has to do stands at the end
    left = f"{set_cell_size(student, widths[0])}{_GAP}{points:>{widths[1]}}{_GAP}"
    indent = cell_len(left) + widths[2] + len(_GAP)
    first, *rest = _wrapped(look, max(_width(), _NARROWEST) - indent, most, console)
    line = Text(left, style=style)
    line.append(set_cell_size(status, widths[2]), status_style)
    line.append(f"{_GAP}{first}", style)
    line.rstrip()
    console.print(line)
    for text in rest:
        console.print(" " * indent + text, markup=False)


def _wrapped(text: str, width: int, most: int | None, console: Console) -> list[str]:
    lines = [line.plain.rstrip() for line in Text(text).wrap(console, width)] or [""]
    if most is not None and len(lines) > most:
        lines = [*lines[: most - 1], set_cell_size(lines[most - 1], width - 1).rstrip() + "…"]
    return lines


def _width() -> int:
    """Return the width of the terminal; where the table goes to a file or another program, lines are not broken."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    return _UNBOUNDED


def _look(outcome: Outcome) -> Iterator[str]:
    """Yield what a person has to know, and where points were lost: checks by name, with the first case that failed."""
    result = outcome.result
    if outcome.was is not None:
        yield f"was {outcome.was:g}"
    if result.penalty:
        yield f"{counted(result.penalty, 'point')} taken off for being late"
    yield from (*result.messages, *result.notes)
    if result.status == Status.UNREADABLE:
        return
    checks = [cell for cell in result.cells if cell.points is not None]
    given = [cell for cell in checks if cell.key in outcome.by_hand]
    lost = [c for c in checks if outcome.counts(c) < c.max_points and (c in given or not _said(c, result))]
    blank = [cell for cell in lost if cell.not_begun and cell not in given]
    not_run = [cell for cell in lost if cell.message.startswith(NOT_RUN) and cell not in given]
    wrong = [cell for cell in lost if cell not in blank and cell not in not_run]
    for some, words in ((blank, "not implemented"), (not_run, "not run")):
        if some:
            yield f"{_which(some, checks)} {words}"
    for cell in wrong[:_MAX_NAMED]:
        by_hand = f" by hand, not {cell.points:g}" if cell in given else ""
        worth = f"{outcome.counts(cell):g}/{cell.max_points:g}{by_hand}"
        yield f"{_place(cell, checks)}{cell.grade_id} {worth}{_why(cell)}"
    if len(wrong) > _MAX_NAMED:
        yield f"{len(wrong) - _MAX_NAMED} more lost points"


def _said(cell: CellScore, result: Result) -> bool:
    """Whether a message of the executor names this cell already: time ran out in it, or the process ended."""
    ended = cell.message.startswith(KERNEL_ENDED) or any(case["error"] in _ENDED for case in cell.failed)
    return ended and any(cell.grade_id in message for message in result.messages)


def _place(cell: CellScore, checks: Sequence[CellScore]) -> str:
    """Return the notebook's name where there are several: they may have tests of the same names."""
    return f"{cell.notebook}/" if len({check.notebook for check in checks}) > 1 else ""


def _which(some: Sequence[CellScore], checks: Sequence[CellScore]) -> str:
    if len(some) <= _MAX_NAMED and len(some) < len(checks):
        return ", ".join(_place(cell, checks) + cell.grade_id.removesuffix("-check") for cell in some)
    return f"{len(some)} of {counted(len(checks), 'task')}"


def _why(cell: CellScore) -> str:
    """Say the first thing that is wrong; a cell without cases or message is a written answer that is not there."""
    if (cell.points or 0.0) >= cell.max_points:  # a person has given less
        return ""
    failed = cell.failed
    text = cell.whole.strip() or cell.message.strip() or (failed[0]["title"] if failed else "no answer")
    first, *rest = list(filter(None, map(str.strip, text.splitlines()))) or [""]
    return f": {first} {rest[0]}" if first.endswith(":") and rest else f": {first}"
