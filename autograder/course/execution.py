"""What nbgrader asks of its step `Execute`, for one that runs notebooks in another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute
from traitlets import Integer

from autograder.errors import CourseError
from autograder.files import walk
from autograder.model import Limits

__all__ = ["ExecuteElsewhere", "limits_within", "steps_with"]

_FOREIGN = Limits(output_kib=16 * 1024)
"""nbgrader bounds neither the output nor the whole time: leave room for what such courses are used to."""
_CELLS_IN_ALL = 20
"""A submission may take so many times the time of one cell, up to an hour."""
_AN_HOUR_S = 3600.0


def limits_within(timeout_s: int | None) -> Limits:
    """Return the limits of a course whose c.Execute.timeout is this; without one only the whole time is bounded."""
    cell_time_s = float(timeout_s) if timeout_s and timeout_s > 0 else _FOREIGN.total_time_s
    total_time_s = min(max(_FOREIGN.total_time_s, _CELLS_IN_ALL * cell_time_s), max(cell_time_s, _AN_HOUR_S))
    return Limits(cell_time_s, total_time_s, _FOREIGN.memory_mib, _FOREIGN.output_kib)


def steps_with(execute: type) -> list[Any]:
    """Return nbgrader's own steps of autograding, with this one in place of its Execute."""
    steps = Autograde.class_traits()["autograde_preprocessors"].default()
    return [execute if step is Execute else step for step in steps]


class ExecuteElsewhere(Execute):  # type: ignore[misc]
    """nbgrader's Execute as far as it is configured: `c.Execute.timeout` and `--Execute.timeout` hold for it, too."""

    memory_mib = Integer(_FOREIGN.memory_mib, help="Address space of each process, in MiB.").tag(config=True)

    @property
    def limits(self) -> Limits:
        """What one submission may use."""
        within = limits_within(self.timeout)
        # c.Execute.timeout is by the clock there.
        return Limits(within.cell_time_s, within.total_time_s, self.memory_mib, within.output_kib, patience=1.0)

    def files_beside(self, resources: Any) -> dict[str, Path]:
        """Return what stands beside the notebook, notebooks and links left out."""
        folder = Path(resources.get("metadata", {}).get("path") or ".")
        return {entry.name: entry.path for entry in walk(folder) if entry.ordinary and entry.path.suffix != ".ipynb"}

    def check_language(self, notebook: Any) -> None:
        """Raise CourseError if this notebook is not in Python."""
        kernel = notebook.metadata.get("kernelspec", {})
        language = str(kernel.get("language") or "python")
        if language.lower() != "python":
            raise CourseError(
                f"its kernel is {kernel.get('name')!r}, for {language}",
                hint="only Python is run in the sandbox; use nbgrader's own Execute",
            )
