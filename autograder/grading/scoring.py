"""Turns what test cells reported into points, and into what a student may read; what cannot be read earns nothing."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import nbformat

from autograder.boundary.locked import statements
from autograder.course import nbgrader_points
from autograder.errors import counted
from autograder.execution.results import Case, Execution, Failure, Report, read_cases
from autograder.grading.retold import RETOLD, as_written, class_of, in_words_of, without_values
from autograder.grading.secrets import beside_hidden, sure_lines, without_hidden_values
from autograder.grading.stopped import PLACE, stopped_above
from autograder.markers import BEGIN_HIDDEN
from autograder.model import CellScore, CellSpec
from autograder.protocol import ESSENTIAL_SHARE, KERNEL_ENDED, MIME, NOT_RUN
from autograder.submission.sanitize_outputs import error, plain

__all__ = ["put_points", "score_notebook"]

_MAX_TEXT = 2000
_ENDS = {"TimeLimit", "ProcessDied", "WireError", "CodeMade", "Reached", "CheckFailed"}
"""Names of errors of the process that runs the tests."""
_NO_SCORE = "the checks did not reach their score"
_NO_REPORT = "the test did not report"
_UNSAID = "no points in a hidden test"
_SECRET = "an error in a hidden test"
_STUB = "NotImplementedError"
_UNTOUCHED = "<div class='tex2jax_ignore mathjax_ignore'>{}</div>"
"""Texts of a student's stand in a table of cases: nothing in it is a formula to be rendered."""


def score_notebook(name: str, execution: Execution, rows: Sequence[CellSpec]) -> list[CellScore]:
    """Return the points of every graded cell, and make the notebook's outputs say the same to nbgrader, in place.

    Of a test that ran apart from the student's code only its report counts, of one that ran in the kernel what it left
    behind. stderr and warnings cost nothing. An error, no output of a cell that must end in check.score, a number that
    is negative, too large or not finite: no points.
    """
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in execution.notebook.cells if "nbgrader" in cell.metadata}
    kernels = [row for row in rows if row.automatic and row.grade_id not in execution.isolated]
    readable = any(BEGIN_HIDDEN in row.source for row in kernels)  # by the student's code, which may tell it anywhere
    beside = beside_hidden(rows)
    stopped = stopped_above(execution.notebook.cells, readable=readable)
    scores = []
    for row in rows:
        cell = cells.get(row.grade_id)
        if row.automatic:
            own = BEGIN_HIDDEN in row.source or row.grade_id in beside
            hides = _Hides(readable if row in kernels else own, row.grade_id in beside, readable and row not in kernels)
            score = _score_cell(name, cell, row, execution, hides)
            scores.append(_with_reason(score, stopped.get(row.grade_id, "")))
        elif row.grade or row.task:
            points = nbgrader_points(cell) if row.grade and cell is not None else None
            scores.append(CellScore(name, row.grade_id, points, row.points))
    return scores


@dataclass(frozen=True)
class _Hides:
    """What is not told of a test.

    Attributes:
        secret: what it says may hold hidden lines, of this test or of another.
        whole: wherever in the test that is said: it uses what hidden lines of an earlier one may have filled.
        retold: it ran apart, and the student's code may have read hidden lines of one that ran in the kernel: what it
            returns or raises may say them.
    """

    secret: bool
    whole: bool
    retold: bool


def _score_cell(
    name: str, cell: nbformat.NotebookNode | None, row: CellSpec, execution: Execution, hides: _Hides
) -> CellScore:
    secret, retold = hides.secret, hides.retold
    if cell is None:
        return CellScore(name, row.grade_id, 0.0, row.points, message="the cell is missing")
    apart = row.grade_id in execution.isolated
    if apart:
        report = execution.reports.get(row.grade_id) or Report(row.grade_id, problem=_NO_REPORT)
    else:
        report = _left_behind(cell, row)
    points, message, cases = _earned(report, row, hides, apart=apart)
    whole = message if report.failure is None else _whole(report.failure, row)
    if message and not apart and report.failure is None and secret:
        message = "" if points else _UNSAID  # a number or results of the student's, who could read the test
    if retold and report.failure is not None and not report.failure.ours:
        message = f"{class_of(report.failure)}: {RETOLD}"
    _show(cell, report, row, points, message)
    if secret and not apart:
        cases = as_written([without_values(case) for case in cases], row)
    elif secret:
        cases = without_hidden_values(cases, row.source, whole=hides.whole)
    if retold:
        cases = in_words_of(row, [without_values(case) for case in cases])
    return CellScore(
        name,
        row.grade_id,
        points,
        row.points,
        cases=tuple(cases),
        message=message,
        whole=whole if whole != message else "",
    )


def _with_reason(score: CellScore, stopped: str) -> CellScore:
    """Return a score that says, where points were lost, which cells of the student's ended early."""
    if not stopped or score.points == score.max_points or (score.cases and score.not_begun):
        return score
    whole = f"{score.whole}; {stopped}" if score.whole else ""
    return replace(score, message="; ".join(filter(None, [score.message, stopped])), whole=whole)


# ---------------------------------------------------------------------------------------------------------- the report
def _left_behind(cell: nbformat.NotebookNode, row: CellSpec) -> Report:
    """Return what the outputs of a test that ran in the student's kernel amount to."""
    errors = [output for output in cell.outputs if output.output_type == "error"]
    results = [output for output in cell.outputs if output.output_type == "execute_result"]
    if errors:
        return Report(row.grade_id, failure=_failure(errors[0]))
    if cell.execution_count is None and not _ends_with_score(row):
        return Report(row.grade_id, problem="the cell did not run")
    if results and not _may_end_in_a_value(row):
        return Report(row.grade_id, problem="the cell had a result, and the test ends in none")
    if len(results) > 1:
        problem = _NO_SCORE if _ends_with_score(row) else f"the cell had {len(results)} results, not one"
        return Report(row.grade_id, problem=problem)
    data = results[0].data if results else {}
    cases, problem = read_cases(data.get(MIME)) if _ends_with_score(row) else (None, "")
    value = plain(data["text/plain"]) if "text/plain" in data else None
    return Report(row.grade_id, cases, value, problem=problem)


def _failure(output: nbformat.NotebookNode) -> Failure:
    trace = tuple(plain(line) for line in output.traceback)
    ours = output.ename in {NOT_RUN, *KERNEL_ENDED}
    place = next((found for text in trace if (found := PLACE.search(text))), None)  # the first frame is the test's
    return Failure(output.ename, output.evalue, trace, line=int(place[1]) if place else 0, ours=ours)


def _may_end_in_a_value(row: CellSpec) -> bool:
    """Whether the test's last statement is an expression, or a line that only IPython reads."""
    body = statements(row.source)
    return not body or isinstance(body[-1], ast.Expr | ast.Pass)


def _ends_with_score(row: CellSpec) -> bool:
    return row.source.rstrip().rpartition("\n")[2].startswith("check.score(")


# ---------------------------------------------------------------------------------------------------------- the points
def _earned(report: Report, row: CellSpec, hides: _Hides, *, apart: bool) -> tuple[float, str, Sequence[Case]]:
    """Return points, a message for the student, and the cases."""
    if report.failure is not None:
        return 0.0, _said(report.failure, row, hides, apart=apart), ()
    if report.problem:
        return 0.0, report.problem, ()
    if not _ends_with_score(row):
        return *_number(report.value, row), ()
    if report.cases is None:
        return 0.0, _NO_SCORE, ()
    passed = math.fsum(case["weight"] for case in report.cases if case["passed"])
    share = passed / math.fsum(case["weight"] for case in report.cases)
    if any(case.get("essential") and not case["passed"] for case in report.cases):
        share = min(share, ESSENTIAL_SHARE)
    full = all(case["passed"] for case in report.cases)
    return row.points if full else round(row.points * share, 2), "", report.cases


def _number(text: str | None, row: CellSpec) -> tuple[float, str]:
    """Read a cell as nbgrader does: a number as its last value is partial credit, anything else is full credit."""
    try:
        points = float(plain(text))
    except ValueError:
        return row.points, ""
    if not 0 <= points <= row.points:  # NaN is neither
        return 0.0, f"the cell ended in {points:g}, which is not between 0 and {row.points:g}"
    return points, "" if points == row.points else f"the test gave {points:g} of {counted(row.points, 'point')}"


def _said(failure: Failure, row: CellSpec, hides: _Hides, *, apart: bool) -> str:
    """Return what a student may read of an exception: what a hidden test says holds the values that are expected.

    Of a cell with hidden tests only the statements that end above the first of them are sure to hold none: those below
    may use names of theirs. In the kernel the student's code can read all lines of all tests there, and could choose a
    text, a class or a built-in one that says what it has read. The grader's own notebook shows everything.
    """
    sure = range(0) if hides.whole else sure_lines(row.source)
    known = failure.name in _ENDS or isinstance(getattr(builtins, failure.name, None), type)
    if not hides.secret or (apart and (failure.ours or (known and failure.line in sure))):
        return _whole(failure, row, sure)
    if apart or failure.name == _STUB:
        return f"{failure.name if known else 'an error'} {'beside' if hides.whole else 'in'} a hidden test"
    if failure.ours:
        return f"{failure.name}: what was noted about the notebook says why"
    return _SECRET if BEGIN_HIDDEN in row.source else f"an error: {RETOLD}"


def _whole(failure: Failure, row: CellSpec, shown: range | None = None) -> str:
    """Return all that an exception says; shown: the lines of the test that may be told, all if not given."""
    lines, said = row.source.split("\n"), f"{failure.name}: {failure.value}".strip(": ")  # as Python counts lines
    if not failure.value.strip() and failure.line in (range(1, len(lines) + 1) if shown is None else shown):
        said += f" in line {failure.line}: {lines[failure.line - 1].strip()}"  # `assert` says no more by itself
    return plain(said, _MAX_TEXT)


# --------------------------------------------------------------------------------------------------------- the outputs
def put_points(cell: nbformat.NotebookNode, points: float, message: str) -> None:
    """Leave these points, and why, in a cell in place of what came of its test: nbgrader reads them there."""
    printed = [output for output in cell.outputs if output.output_type in {"stream", "display_data"}]
    shown = [_stream(f"{message}\n"), _value({"text/plain": repr(points)}, cell.execution_count or 1)]
    cell.outputs = [*printed, *shown]


def _show(cell: nbformat.NotebookNode, report: Report, row: CellSpec, points: float, message: str) -> None:
    """Leave in a cell what the student's code put out while it was tested, and what came of the test."""
    printed = [output for output in cell.outputs if output.output_type in {"stream", "display_data"}]
    for output in printed:
        if output.output_type == "stream":
            output.name = "stdout"  # nbgrader gives nothing for a cell that wrote to stderr
    if report.printed:
        printed.append(_stream(plain(report.printed, None)))
    cell.outputs = [*printed, *_result(report, row, points, cell.execution_count or 1)]
    if nbgrader_points(cell) != points:
        put_points(cell, points, message)


def _result(report: Report, row: CellSpec, points: float, count: int) -> list[nbformat.NotebookNode]:
    if report.failure is not None:
        return [error(report.failure.name, report.failure.value, report.failure.trace)]
    if report.cases is not None and not report.problem and _ends_with_score(row):
        return [_value({"text/plain": repr(points), "text/html": _table(report.cases, row, points)}, count)]
    return [] if report.value is None else [_value({"text/plain": plain(report.value)}, count)]


def _table(cases: Sequence[Case], row: CellSpec, points: float) -> str:
    """Return the table that labkit shows of these cases, made here and of escaped texts."""
    from labkit._check_report import Case as Shown
    from labkit._check_report import Score

    clean: list[Case] = [{key: plain(v) if isinstance(v, str) else v for key, v in case.items()} for case in cases]
    score = Score(row.points, tuple(Shown(**case) for case in clean))
    score.points = points
    return _UNTOUCHED.format(score._repr_mimebundle_()["text/html"])


def _value(data: dict[str, Any], count: int) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("execute_result", data, execution_count=count)


def _stream(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name="stdout", text=text)
