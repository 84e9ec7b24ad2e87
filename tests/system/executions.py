"""Runs notebooks written as a few cells of text, and reads what became of their tests."""

from __future__ import annotations

from typing import Any

import nbformat

from autograder.execution import Checks, Execution, Executor
from autograder.model import Limits
from tests.system.sandboxed import text_of

__all__ = ["LIMITS", "cases", "notebook", "run", "said"]

LIMITS = Limits(cell_time_s=3, total_time_s=20, memory_mib=3072, output_kib=64)


def notebook(*cells: str) -> nbformat.NotebookNode:
    """Return a notebook; a cell that begins with `#test NAME` is the test of this name."""
    found = nbformat.v4.new_notebook()
    for source in cells:
        cell = nbformat.v4.new_code_cell(source)
        if source.startswith("#test "):
            cell.metadata = nbformat.from_dict({"nbgrader": {"grade_id": source.split()[1], "grade": True}})
        found.cells.append(cell)
    return found


def run(executor: Executor, *cells: str, **more: Any) -> Execution:
    names = frozenset(source.split()[1] for source in cells if source.startswith("#test "))
    checks = Checks(isolated=names, files=more.pop("given", {}))
    return executor.run(notebook(*cells), limits=more.pop("limits", LIMITS), files=more.pop("files", {}), checks=checks)


def said(execution: Execution, name: str) -> str:
    """Return as text what a test put out: what the student's code printed, then what it reported."""
    cell = next(c for c in execution.notebook.cells if c.source.startswith(f"#test {name}"))
    report = execution.reports[name]
    end = f"{report.failure.name}: {report.failure.value}" if report.failure else report.value or ""
    return "".join(text_of(o) for o in cell.outputs if o.output_type != "error") + report.printed + end


def cases(execution: Execution, name: str) -> dict[str, str]:
    """Return the error of each case, empty if it passed."""
    return {case["title"]: case["error"] for case in execution.reports[name].cases or ()}
