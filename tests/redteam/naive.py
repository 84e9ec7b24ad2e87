"""A grader as most are, to show that an attack is one: tests run in the student's own kernel, and its word counts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from autograder import sandbox
from autograder.model import CellSpec
from autograder.submission.repair import parse, repair

__all__ = ["executed", "naive_points", "shown"]

_CELL_TIME_S = 4


def executed(text: str, rows: Sequence[CellSpec]) -> nbformat.NotebookNode:
    """Return the notebook with the instructor's tests in it, run from top to bottom in one sandboxed kernel."""
    notebook, _ = parse(text.encode(), "naive")
    notebook = repair(notebook, rows).notebook

    async def run() -> None:
        with sandbox.kernel(sandbox.choose(), limits=sandbox.ProcessLimits(memory_mib=2048, cpu_s=30)) as manager:
            client = NotebookClient(notebook, km=manager, allow_errors=True, timeout=_CELL_TIME_S, record_timing=False)
            with contextlib.suppress(CellTimeoutError, DeadKernelError, CellExecutionError):
                await client.async_execute()

    asyncio.run(run())
    return notebook


def naive_points(notebook: nbformat.NotebookNode, rows: Sequence[CellSpec]) -> float:
    """Return the points as nbgrader counts them: a number as a cell's last value is what it earns."""
    cells: Mapping[str, nbformat.NotebookNode] = {
        cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata
    }
    return sum(_points(cells[row.grade_id], row.points) for row in rows if row.automatic)


def _points(cell: nbformat.NotebookNode, most: float) -> float:
    kinds = [output.output_type for output in cell.outputs]
    if "error" in kinds or "execute_result" not in kinds:
        return 0.0
    text = cell.outputs[len(kinds) - 1 - kinds[::-1].index("execute_result")].data.get("text/plain", "")
    try:
        return min(float(text), most)
    except ValueError:
        return 0.0


def shown(notebook: nbformat.NotebookNode) -> str:
    """Return everything that the notebook's cells have put out."""
    return "\n".join(str(output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)
