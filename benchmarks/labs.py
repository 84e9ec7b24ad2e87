"""Prints for each lab: points, checks, wrong and right answers, seconds to run it whole and to grade one submission.

python -m benchmarks.labs [LAB ...]

Whole: the solution from top to bottom in the grader's sandbox, explore cells included, start-up not (frameworks are
imported before). Graded: the same without explore cells, the median and range of several.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import nbformat

from autograder.execution import Checks, Executor, preloads
from autograder.release.answers import find_variants
from autograder.release.build import build, find_labs
from autograder.release.source import LabSource, read_source
from autograder.sandbox import choose
from benchmarks.common import median_and_range

_GRADED = 5
_HEAD = """| lab | points | checks | wrong answers | least a check | right answers | whole, s | graded, s |
|---|---|---|---|---|---|---|---|"""


def main() -> None:
    """Measure the labs named on the command line, or all."""
    labs = find_labs(Path(__file__).parents[1] / "solutions")
    print(_HEAD)
    for lab in labs:
        if not sys.argv[1:] or lab.name in sys.argv[1:]:
            print(_row(lab), flush=True)


def _row(lab: Path) -> str:
    source = read_source(lab)
    checks = {cell.grade_id for cell in source.cells if cell.test}
    wrong, right = find_variants(lab, "wrong"), find_variants(lab, "right")
    caught = Counter(check for variant in wrong for check in variant.fails)
    least = min(caught[check] for check in checks)
    whole, graded = _seconds(lab, source)
    numbers = [source.lab.points, len(checks), len(wrong), least, len(right), f"{whole:.0f}"]
    return f"| {lab.name} | {' | '.join(map(str, numbers))} | {median_and_range(graded, 1)} |"


def _seconds(lab: Path, source: LabSource) -> tuple[float, list[float]]:
    """Return the seconds of the whole notebook, and of each of several gradings."""
    notebook = nbformat.reads(build(lab).source_notebook.decode(), as_version=4)
    explore = {cell.id for cell in notebook.cells if cell.metadata.get("labkit", {}).get("explore")}
    checks = Checks(isolated=frozenset(cell.grade_id for cell in source.cells if cell.test))
    modules = preloads((cell.source for cell in source.cells), source.lab.frameworks)
    # Those of the lab are for grading; the whole of it may take longer.
    limits = replace(source.lab.limits, cell_time_s=60, total_time_s=600)
    with Executor(choose(), modules) as executor:

        def once(skipped: set[str]) -> float:
            start = time.perf_counter()
            done = executor.run(notebook, limits=limits, files={}, explore=skipped, checks=checks)
            if not done.complete:
                sys.exit(f"{lab.name}: {'; '.join(done.problems)}")
            return time.perf_counter() - start

        once(explore)  # starts what is pre-warmed
        return once(set()), [once(explore) for _ in range(_GRADED)]


if __name__ == "__main__":
    main()
