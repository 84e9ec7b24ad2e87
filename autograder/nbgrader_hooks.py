"""A step for nbgrader's own autograde that runs notebooks in the sandbox, in place of its `Execute`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from autograder.course.execution import ExecuteElsewhere, steps_with
from autograder.execution.preload import preloads
from autograder.execution.results import Execution
from autograder.execution.trusted_tests import Checks
from autograder.execution.warm import warm
from autograder.model import Limits
from autograder.notebook import metadata_of
from autograder.protocol import TIMED_OUT

__all__ = ["SandboxedExecute", "autograde_preprocessors"]


def autograde_preprocessors() -> list[Any]:
    """Return nbgrader's own steps with ours in place of Execute, for c.Autograde.autograde_preprocessors."""
    return steps_with(SandboxedExecute)


class SandboxedExecute(ExecuteElsewhere):
    """Runs a notebook in a sandboxed kernel, its tests among the rest as nbgrader does, but each of them watched.

    A test in which a check that must fail did not gets an error, and so nothing from nbgrader; so does every test that
    did not run because the process had ended. Of several values that a test puts out only the last is kept. Files that
    a notebook writes are gone with the sandbox. Of the settings of Execute these count: timeout, error_on_timeout; a
    cell that takes too long is always interrupted, an error never ends a notebook, and the kernel is always ours.
    """

    def preprocess(self, nb: Any, resources: Any, km: Any = None) -> tuple[Any, Any]:
        """Run the notebook; put outputs and counts into its cells, in place.

        Raises CourseError if it is not in Python, SandboxError if no process can be started: for nbgrader, this
        submission has failed, and has no grade.
        """
        self.check_language(nb)
        tests = _tests(nb)
        about = (_plain(nb), self.limits, self.files_beside(resources), tests)
        execution = warm().run(lambda: _execute(*about))
        for cell, executed in zip(nb.cells, execution.notebook.cells, strict=True):
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = executed.outputs, executed.execution_count
                self._mark_late(cell)
                if metadata_of(executed).get("grade_id") in tests:
                    _keep_last(cell)
        for problem in (*execution.forged, *execution.problems):
            self.log.warning("%s: %s", resources.get("unique_key", "notebook"), problem)
        return nb, resources

    def _mark_late(self, cell: Any) -> None:
        for output in cell.outputs:
            if output.output_type == "error" and output.ename == TIMED_OUT and self.error_on_timeout:
                output.update(self.error_on_timeout)


def _execute(
    notebook: nbformat.NotebookNode, limits: Limits, files: Mapping[str, Path], tests: frozenset[str]
) -> Execution:
    names = preloads([cell.source for cell in notebook.cells if cell.cell_type == "code"])
    executor = warm().executor(names, apart=False)
    return executor.run(notebook, limits=limits, files=files, checks=Checks(guarded=tests))


def _plain(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook without anything of its metadata, tags that skip a cell for one, but what nbgrader wrote."""
    cells = []
    for number, cell in enumerate(notebook.cells):
        kept = {"nbgrader": cell.metadata.nbgrader} if "nbgrader" in cell.metadata else {}
        new = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_raw_cell
        cells.append(new(cell.source, metadata=kept, id=f"cell-{number}"))
    return nbformat.v4.new_notebook(cells=cells)


def _keep_last(cell: Any) -> None:
    """Drop all values of a test but the last: nbgrader reads the first, the canary the last."""
    results = [output for output in cell.outputs if output.output_type == "execute_result"]
    cell.outputs = [output for output in cell.outputs if output not in results[:-1] or output is results[-1]]


def _tests(notebook: nbformat.NotebookNode) -> frozenset[str]:
    about = [metadata_of(cell) for cell in notebook.cells if cell.cell_type == "code"]
    return frozenset(found["grade_id"] for found in about if found.get("grade") and not found.get("solution"))
