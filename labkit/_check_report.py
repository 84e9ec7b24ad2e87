"""What a checked cell reports: its cases, the score, and how both look in a notebook."""

from __future__ import annotations

import builtins
import contextlib
import linecache
import math
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from html import escape
from types import FrameType
from typing import Any

from labkit._assertions import Mismatch

__all__ = ["MIME", "Case", "CheckFailed", "Ledger", "Score", "advice", "error_message"]

MIME = "application/vnd.labkit.check+json"
"""The media type under which a score travels with a cell's output; graders read the cases from it."""

_HALF = 0.5
"""The most that a cell earns, as a share of its points, where an essential case failed."""
_LINE_ABOVE = "in the line above: what comes into each call, of which shape, and what does it take first?"
_MAX_MESSAGE = 1000
_AS_ABOVE = "as above"
_OF_A_CALL = (TypeError, ValueError, RuntimeError)
"""What libraries raise for arguments that they cannot take."""
_EXPLORE = "explore cells are not run when your work is graded"
_NOT_YET = "not implemented yet"
_STUBS = ("Task ", _NOT_YET)
_RAISED = "an error was raised"  # which one, the student's code chose, and could say with it what it was given
_ALONE, _ESSENTIAL = "counts once another case passes", "what the task is about: without it at most half of the points"
_KNOWN = {"Mismatch", "TimeLimit", "ProcessDied", "WireError", "CodeMade", "RankError", "ProcessError"}
"""Names of errors that are nobody's own, beside the built-in ones: of a hidden case no other is recorded."""
# JupyterLab's own colours, which follow its theme; the others for every other front end.
_GREEN, _RED = "var(--jp-success-color1, #2e7d32)", "var(--jp-error-color1, #d32f2f)"
_ROW = "<tr style='background:none'>"
_CELL = "<td style='text-align:left;vertical-align:top;white-space:normal;padding:2px 6px"
_MESSAGE = "<div style='font-family:var(--jp-code-font-family, monospace);white-space:pre-wrap'>"


@dataclass(frozen=True)
class Case:
    """One thing that a test cell checked."""

    title: str
    passed: bool = True
    message: str = ""
    hint: str = ""
    hidden: bool = False
    weight: float = 1.0
    error: str = ""
    guard: bool = False
    essential: bool = False
    more: str = ""
    sort: str = ""

    def reason(self) -> str:
        """Return why the case failed; of a hidden one no value."""
        return "" if self.passed else self.sort if self.hidden else self.message

    def __str__(self) -> str:
        lines = [f"{'pass' if self.passed else 'FAIL'}  {self.title}", *self.reason().splitlines()]
        lines += [_ESSENTIAL] if self.essential and not self.passed else []
        return "\n      ".join([*lines, f"look at: {self.hint}"] if self.hint else lines)

    def html(self) -> str:
        """Return the case as the row of a table."""
        colour, mark = (_GREEN, "✓") if self.passed else (_RED, "✗")
        message = f"{_MESSAGE}{escape(self.reason())}</div>" if self.reason() else ""
        hint = f"<div>Look at: {escape(self.hint)}</div>" if self.hint else ""
        if self.more:
            hint += f"<details><summary>Another hint</summary>{escape(self.more)}</details>"
        if self.essential and not self.passed:
            hint += f"<div><i>{_ESSENTIAL.capitalize()}.</i></div>"
        return (
            f"{_ROW}{_CELL};color:{colour};font-weight:bold'>{mark}</td>"
            f"{_CELL}'>{escape(self.title)}{message}{hint}</td></tr>"
        )


class Score:
    """Points earned by the cases of one cell; shown as a table, read by nbgrader as a number."""

    def __init__(self, max_points: float, cases: tuple[Case, ...]) -> None:
        self.max_points = float(max_points)
        telling = [case for case in cases if not case.guard]
        telling = [case for case in telling if not case.hidden] or telling
        self.cases = cases if any(case.passed for case in telling) else tuple(map(_unearned, cases))
        total = sum(case.weight for case in cases)
        share = sum(case.weight for case in self.cases if case.passed) / total
        if any(case.essential and not case.passed for case in self.cases):
            share = min(share, _HALF)
        self.points = self.max_points if self.full else round(self.max_points * share, 2)

    @property
    def full(self) -> bool:
        return all(case.passed for case in self.cases)

    def __float__(self) -> float:
        return self.points

    def __repr__(self) -> str:
        return repr(self.points)

    def __str__(self) -> str:
        return "\n".join([*map(str, _told_once(self.cases)), self.summary()])

    def summary(self) -> str:
        """Return the last line: points and cases."""
        passed = sum(case.passed for case in self.cases)
        points = "point" if self.max_points == 1 else "points"
        return f"{self.points:g} of {self.max_points:g} {points}, {passed} of {len(self.cases)} cases"

    def to_dict(self) -> dict[str, Any]:
        """Return what graders read, as JSON knows it."""
        return {
            "protocol": 1,
            "points": self.points,
            "max_points": self.max_points,
            "cases": [asdict(case) for case in self.cases],
        }

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        colour = _GREEN if self.full else _RED
        rows = "".join(case.html() for case in _told_once(self.cases))
        total = f"{_ROW}{_CELL}'></td>{_CELL};font-weight:bold'>{escape(self.summary())}</td></tr>"
        table = f"<table style='margin:0;border-left:4px solid {colour}'>{rows}{total}</table>"
        return {"text/plain": repr(self), "text/html": table, MIME: self.to_dict()}


def _told_once(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the cases as they are shown: one error may fail all that need it."""
    before = ("", "")
    for case in cases:
        told = (case.reason(), case.hint)
        again = not case.passed and any(told) and told == before
        yield replace(case, message=_AS_ABOVE, hint="", more="") if again else case
        before = before if case.passed else told


def _unearned(case: Case) -> Case:
    """Return a case of a cell in which no case passed that students see, guards aside: doing nothing satisfies it."""
    return replace(case, passed=False, error="Guard", message=_ALONE, sort=_ALONE) if case.passed else case


class Ledger:
    """The cases of the cell that is running now."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.execution = 0
        self.open = False
        self.title = ""

    @contextlib.contextmanager
    def case(self, case: Case) -> Iterator[None]:
        """Record a case, given as it is if the body ends without an exception."""
        if self.open:
            raise RuntimeError(f"check.case({case.title!r}) stands inside another case: close that one first")
        if not 0 < case.weight < math.inf:
            raise ValueError(f"check.case({case.title!r}): weight must be positive and finite, got {case.weight}")
        self.start()
        self.open, self.title = True, case.title
        failed: dict[str, Any] = {"hint": "", "more": ""}
        try:
            # A warning on stderr would cost the whole cell in nbgrader.
            with contextlib.redirect_stderr(sys.stdout):
                yield
        except Mismatch as mismatch:
            failed = {"message": str(mismatch.args[0]), "error": "Mismatch", "sort": mismatch.sort}
            failed["hint"] = mismatch.hint or case.hint
        except KeyboardInterrupt:  # the person, or the grader's time limit
            raise
        except BaseException as exception:
            hint = advice(exception, case.hint, hidden=case.hidden)
            failed = {"message": error_message(exception), "error": _name(exception, case), "hint": hint}
            failed["sort"] = _NOT_YET if _unfinished(exception) else _RAISED
            failed |= {"more": case.more if hint == case.hint else case.hint if hint == _LINE_ABOVE else ""}
        finally:
            self.open, self.title = False, ""
        self.cases.append(replace(case, passed="error" not in failed, **failed))

    def start(self) -> None:
        """Forget the cases of an earlier cell that never reached its score."""
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        execution = getattr(shell, "execution_count", 0)
        if execution != self.execution:
            self.cases, self.execution = [], execution

    def take(self) -> list[Case]:
        """Return the cases of this cell, and forget them."""
        self.start()
        cases, self.cases = self.cases, []
        return cases

    def forget(self) -> None:
        """Begin again."""
        self.cases = []
        self.open = False


class CheckFailed(AssertionError):
    """Some cases of a cell failed; shown as one line a case instead of a traceback."""

    def __init__(self, score: Score) -> None:
        super().__init__(str(score))
        self.score = score

    def _render_traceback_(self) -> list[str]:
        return str(self.score).splitlines()


def advice(exception: BaseException, hint: str, *, hidden: bool = False) -> str:
    """Return where to look: the case's own hint, unless the exception itself says better what to do next.

    hidden: of a hidden case students read this, and what the exception holds may be what the case gave their code.
    """
    if _unfinished(exception):
        return ""  # the work has not begun
    if isinstance(exception, NameError):
        name = f"`{exception.name}`" if exception.name and not hidden else "the name"
        return f"is {name} spelled exactly so, and has the task's cell that defines it been run? {_EXPLORE}"
    students_line = _in_students_line(exception)
    if isinstance(exception, TypeError | AttributeError) and "NoneType" in str(exception):
        what = (
            "the function" if hidden or not students_line else "the function that made what is None in the line above"
        )
        return f"does every path of {what} end in a return? {hint}".strip()
    if students_line and not hidden and isinstance(exception, _OF_A_CALL) and _calls_something(exception):
        return _LINE_ABOVE
    if not students_line and isinstance(exception, TypeError) and "argument" in str(exception):
        return "keep the name and the arguments that the stub has"
    return hint


def _in_students_line(exception: BaseException) -> bool:
    """Whether a line of the student's raised this, and not one of the test itself."""
    if getattr(exception, "notebook_line", ""):
        return True
    files = [frame.f_code.co_filename for frame, _ in _notebook_frames(exception)]
    return bool(files) and files[-1] != files[0]


def _calls_something(exception: BaseException) -> bool:
    """Whether the line that raised this calls something; one that raises an error itself does it on purpose."""
    line = _place(exception).partition(": ")[2]
    return "(" in line and not line.startswith("raise ")


def error_message(exception: BaseException) -> str:
    """Return what was raised and, when it came from a notebook's cell, the line that raised it."""
    text = "".join(traceback.format_exception_only(exception)).strip()  # survives a __str__ that raises
    if _unfinished(exception):
        return ": ".join([_NOT_YET, *text.split(": ", 1)[1:]])[:_MAX_MESSAGE]
    text = text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."
    return f"{text}\n{place}" if (place := _place(exception)) else text


def _name(exception: BaseException, case: Case) -> str:
    """Return the name under which an error is recorded; of a hidden case only one that is nobody's own."""
    name = type(exception).__name__ or "Exception"
    if isinstance(exception, NotImplementedError) and not _unfinished(exception):
        return "Error"
    known = name in _KNOWN or isinstance(getattr(builtins, name, None), type)
    return name if known or not case.hidden else "Error"


def _unfinished(exception: BaseException) -> bool:
    """Whether this comes from a stub, and not from a library in which something is not implemented.

    Stubs name their task, also where a rank or a fresh process met one, or say nothing, or stand in a notebook's cell.
    """
    if not isinstance(exception, NotImplementedError):
        return False
    said = "".join(traceback.format_exception_only(exception)).partition(": ")[2].strip()
    place = _place(exception)
    return not said or said.startswith(_STUBS) or not place or "NotImplementedError" in place


def _place(exception: BaseException) -> str:
    """Return the line of a notebook's cell that raised this, "in softmax, line 3: return z / total"; empty if none."""
    if line := getattr(exception, "notebook_line", ""):  # raised in another process, which has the notebook
        return str(line)
    frames = _notebook_frames(exception)
    if not frames:
        return ""
    frame, number = frames[-1]
    source = linecache.getline(frame.f_code.co_filename, number).strip()
    return f"in {frame.f_code.co_name}, line {number}: {source}" if source else ""


def _notebook_frames(exception: BaseException) -> list[tuple[FrameType, int]]:
    """Return the frames of cells that an exception came through, the test's own first, each with its line."""
    walked = traceback.walk_tb(exception.__traceback__)
    return [(frame, line) for frame, line in walked if frame.f_globals.get("__name__") == "__main__"]
