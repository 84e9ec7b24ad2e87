"""How many submissions a minute: the same honest class, graded by nbgrader, by otter and by ours, in turns."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.grading.courses import make_class
from benchmarks.grading.graders import Timing, run

__all__ = ["Row", "measure", "report", "table"]

_SHOWN = {
    "nbgrader": "nbgrader autograde",
    "otter": "otter run",
    "ours1": "ours, 1 worker",
    "ours2": "ours, 2 workers",
}
_COLUMNS = "{:<9} {:<19} {:<23} {:>10} {:>10} {:>14}"
_HEAD = _COLUMNS.format("notebook", "grader", "submissions/min", "x nbgrader", "x 1 worker", "s a submission")


@dataclass(frozen=True)
class Row:
    """One grader on one notebook.

    Attributes:
        seconds: of the whole command, one for each repeat.
        each_s: of each submission, over all repeats.
    """

    notebook: str
    grader: str
    submissions: int
    seconds: tuple[float, ...]
    each_s: tuple[float, ...]

    @property
    def rates(self) -> list[float]:
        """Submissions a minute, of each repeat."""
        return [60 * self.submissions / seconds for seconds in self.seconds]

    def over(self, other: Row) -> float:
        """Return how many times faster than another grader, by the medians."""
        return median(self.rates) / median(other.rates)


def measure(
    notebooks: Sequence[str], graders: Sequence[str], submissions: int, repeats: int, otter_python: Path | None
) -> Iterator[Row]:
    """Yield the rows of one notebook after the other.

    Every repeat runs each grader once, starting with another one each time, so that what else happens on the machine
    hits all alike. Raises Failed if a grader gives a submission other points than it has earned.
    """
    there = [name for name in graders if name != "otter" or otter_python is not None]
    for notebook in notebooks:
        timings: dict[str, list[Timing]] = {name: [] for name in there}
        with tempfile.TemporaryDirectory(prefix="grading-") as folder:
            made = make_class(notebook, submissions, Path(folder) / "class")
            for turn in range(repeats):
                start = turn % len(there)
                for name in there[start:] + there[:start]:
                    timings[name].append(run(name, made, otter_python))
        for name, runs in timings.items():
            each_s = tuple(round(seconds, 3) for timing in runs for seconds in timing.each_s)
            yield Row(notebook, name, submissions, tuple(round(timing.seconds, 3) for timing in runs), each_s)


def table(rows: Sequence[Row], graders: Sequence[str]) -> str:
    """Return the table of what was measured; a grader that was asked for and not run is named."""
    lines = [_HEAD]
    found = {(row.notebook, row.grader): row for row in rows}
    for notebook in dict.fromkeys(row.notebook for row in rows):
        for name in graders:
            row = found.get((notebook, name))
            if row is None:
                lines.append(_COLUMNS.format(notebook, _SHOWN[name], "not installed", "", "", "").rstrip())
                continue
            rates = sorted(row.rates)
            rate = f"{median(rates):.1f} ({rates[0]:.1f} to {rates[-1]:.1f})"
            stock, one = (_ratio(row, found.get((notebook, other))) for other in ("nbgrader", "ours1"))
            one = one if name == "ours2" else ""
            each = f"{median(row.each_s):.2f}"
            lines.append(_COLUMNS.format(notebook, _SHOWN[name], rate, stock, one, each))
    return "\n".join(lines)


def report(rows: Sequence[Row]) -> dict[str, object]:
    """Return the measurements as JSON knows them; times in seconds."""
    machine = {"cores": os.cpu_count(), "processor": platform.processor() or platform.machine()}
    return {"machine": machine, "rows": [asdict(row) for row in rows]}


def _ratio(row: Row, other: Row | None) -> str:
    return f"{row.over(other):.2f}" if other else ""
