"""Turns what executed test cells left behind into points; what did not run, or cannot be read, earns nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nbformat

from autograder.course import nbgrader_points
from autograder.model import CellScore, SourceCellRow

__all__ = ["MIME", "NOT_RUN", "score_notebook"]

MIME = "application/vnd.labkit.check+json"
"""The check protocol's media type: the one thing shared with labkit."""

NOT_RUN = "NotRun"
"""The error name that the executor leaves in a cell it did not run."""

_MAX_TEXT = 2000


def score_notebook(name: str, notebook: nbformat.NotebookNode, rows: Sequence[SourceCellRow]) -> list[CellScore]:
    """Return the points of every graded cell, and make the notebook's outputs say the same to nbgrader, in place.

    stderr and warnings cost nothing. An error, no output of a cell that must end in check.score, a number that is
    negative, too large or not finite: no points.
    """
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    scores = []
    for row in rows:
        cell = cells.get(row.grade_id)
        if row.automatic:
            scores.append(_score_cell(name, cell, row))
        elif row.grade or row.task:
            points = nbgrader_points(cell) if row.grade and cell is not None else None
            scores.append(CellScore(name, row.grade_id, points, row.points))
    return scores


def _score_cell(name: str, cell: nbformat.NotebookNode | None, row: SourceCellRow) -> CellScore:
    if cell is None:
        return CellScore(name, row.grade_id, 0.0, row.points, message="the cell is missing")
    for output in cell.outputs:
        if output.output_type == "stream":
            output.name = "stdout"  # nbgrader gives nothing for a cell that wrote to stderr
    points, message, cases = _read(cell, row)
    if nbgrader_points(cell) != points:
        others = [output for output in cell.outputs if output.output_type != "execute_result"]
        cell.outputs = [*others, *_shown(message), _result(cell, points)]
    return CellScore(name, row.grade_id, points, row.points, cases=tuple(cases), message=message)


def _read(cell: nbformat.NotebookNode, row: SourceCellRow) -> tuple[float, str, list[dict[str, Any]]]:
    """Return points, a message for a person, and the cases."""
    errors = [output for output in cell.outputs if output.output_type == "error"]
    results = [output for output in cell.outputs if output.output_type == "execute_result"]
    if errors:
        return 0.0, f"{errors[0].ename}: {errors[0].evalue}".strip(": ")[:_MAX_TEXT], []
    if _ends_with_score(row):
        return _read_protocol(results, row)
    if cell.execution_count is None:
        return 0.0, "the cell did not run", []
    return _read_number(results, row)


def _ends_with_score(row: SourceCellRow) -> bool:
    return row.source.rstrip().rpartition("\n")[2].startswith("check.score(")


def _read_number(results: Sequence[Any], row: SourceCellRow) -> tuple[float, str, list[dict[str, Any]]]:
    """Read a cell as nbgrader does: a number as its last value is partial credit, anything else is full credit."""
    if len(results) > 1:
        return 0.0, f"the cell had {len(results)} results, not one", []
    text = results[0].data.get("text/plain", "") if results else ""
    try:
        points = float("".join(map(str, text)) if isinstance(text, list) else str(text))
    except ValueError:
        return row.points, "", []
    if not 0 <= points <= row.points:  # NaN is neither
        return 0.0, f"the cell ended in {points:g}, which is not between 0 and {row.points:g}", []
    return points, "", []


def _read_protocol(results: Sequence[Any], row: SourceCellRow) -> tuple[float, str, list[dict[str, Any]]]:
    report = results[0].data.get(MIME) if len(results) == 1 else None
    if report is None:
        return 0.0, "the checks did not reach their score", []
    try:
        cases = [_case(case) for case in report["cases"]]
        passed = math.fsum(case["weight"] for case in cases if case["passed"])
        share = passed / math.fsum(case["weight"] for case in cases)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        return 0.0, f"the checks' report cannot be read ({type(error).__name__})", []
    full = all(case["passed"] for case in cases)
    return row.points if full else round(row.points * share, 2), "", cases


def _case(case: Any) -> dict[str, Any]:
    weight = float(case["weight"])
    if not 0 < weight < math.inf or not isinstance(case["passed"], bool):
        raise ValueError("weight or passed")
    texts = {key: str(case[key])[:_MAX_TEXT] for key in ("title", "message", "hint", "error")}
    return {**texts, "passed": case["passed"], "hidden": bool(case["hidden"]), "weight": weight}


def _result(cell: nbformat.NotebookNode, points: float) -> nbformat.NotebookNode:
    return nbformat.v4.new_output(
        "execute_result", {"text/plain": repr(points)}, execution_count=cell.execution_count or 1
    )


def _shown(message: str) -> list[nbformat.NotebookNode]:
    return [nbformat.v4.new_output("stream", name="stdout", text=f"{message}\n")] if message else []
