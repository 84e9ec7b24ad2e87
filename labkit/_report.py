"""What a checked cell reports: its cases, the score, and how both look in a notebook."""

from __future__ import annotations

import linecache
import traceback
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

__all__ = ["MIME", "Case", "CheckFailed", "Score", "error_message"]

MIME = "application/vnd.labkit.check+json"
"""The media type under which a score travels with a cell's output; graders read the cases from it."""

_GREEN, _RED = "#2e7d32", "#c62828"


@dataclass(frozen=True)
class Case:
    """One thing that a test cell checked."""

    title: str
    passed: bool
    message: str = ""
    hint: str = ""
    hidden: bool = False
    weight: float = 1.0
    error: str = ""

    def lines(self) -> list[str]:
        """Return the case for a person: one line, and below it why it failed; hidden values stay hidden."""
        lines = [f"{'pass' if self.passed else 'FAIL'}  {self.title}"]
        if not self.passed and not self.hidden:
            lines += [f"      {line}" for line in self.message.splitlines()]
        if self.hint:
            lines.append(f"      look at: {self.hint}")
        return lines

    def html(self) -> str:
        colour, mark = (_GREEN, "✓") if self.passed else (_RED, "✗")
        first, *rest = self.lines()
        detail = "<br>".join(f"<code style='white-space:pre-wrap'>{escape(line.strip())}</code>" for line in rest)
        return (
            f"<tr style='background:none'><td style='color:{colour};vertical-align:top;font-weight:bold'>{mark}</td>"
            f"<td style='text-align:left'>{escape(first[6:])}{'<br>' + detail if detail else ''}</td></tr>"
        )


class Score:
    """Points earned by the cases of one cell; shown as a table, read by nbgrader as a number."""

    def __init__(self, max_points: float, cases: tuple[Case, ...]) -> None:
        self.max_points = max_points
        self.cases = cases
        total = sum(case.weight for case in cases)
        self.points = round(max_points * sum(case.weight for case in cases if case.passed) / total, 2)

    @property
    def full(self) -> bool:
        return all(case.passed for case in self.cases)

    def __float__(self) -> float:
        return float(self.points)

    def __repr__(self) -> str:
        return repr(float(self.points))

    def __str__(self) -> str:
        lines = [line for case in self.cases for line in case.lines()]
        return "\n".join([*lines, self.summary()])

    def summary(self) -> str:
        passed = sum(case.passed for case in self.cases)
        return f"{self.points:g} of {self.max_points:g} points, {passed} of {len(self.cases)} cases"

    def to_dict(self) -> dict[str, Any]:
        return {
            "protocol": 1,
            "points": float(self.points),
            "max_points": float(self.max_points),
            "cases": [asdict(case) for case in self.cases],
        }

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        colour = _GREEN if self.full else _RED
        rows = "".join(case.html() for case in self.cases)
        total = f"<td></td><td style='text-align:left'><b>{escape(self.summary())}</b></td>"
        table = (
            f"<table style='margin:0;border-left:4px solid {colour}'>{rows}"
            f"<tr style='background:none'>{total}</tr></table>"
        )
        return {"text/plain": repr(self), "text/html": table, MIME: self.to_dict()}


class CheckFailed(AssertionError):
    """Some cases of a cell failed; shown as one line a case instead of a traceback."""

    def __init__(self, score: Score) -> None:
        super().__init__(str(score))
        self.score = score

    def _render_traceback_(self) -> list[str]:
        return str(self.score).splitlines()


def error_message(exception: BaseException) -> str:
    """Return what was raised and, when it came from a notebook's cell, the line that raised it."""
    if isinstance(exception, NotImplementedError):
        return f"not implemented yet: {exception}" if str(exception) else "not implemented yet"
    text = "".join(traceback.format_exception_only(exception)).strip()
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(exception.__traceback__)
        if frame.f_globals.get("__name__") == "__main__"
    ]
    if not frames:
        return text
    frame, number = frames[-1]
    source = linecache.getline(frame.f_code.co_filename, number).strip()
    return f"{text}\nin {frame.f_code.co_name}, line {number}: {source}" if source else text
