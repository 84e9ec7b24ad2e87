"""What the labs' benchmarks share: the solution's functions, and figures over seeds in words.

python -m benchmarks.common LAB    runs all code cells of a solution in one process, and prints the seconds of each
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1") | os.environ)

import numpy as np
from numpy.typing import NDArray

from autograder.release.source import read_source

__all__ = ["SEEDS", "folder", "mean_and_spread", "mean_of", "median_and_range", "solution", "threshold"]

SEEDS = range(10)
_ROOT = Path(__file__).parents[1]


def folder(lab: str) -> Path:
    """Return the folder of a lab's solution, for example of "01_numpy_mlp"."""
    return _ROOT / "solutions" / lab


def solution(lab: str, *, also: Iterable[str] = ()) -> dict[str, Any]:
    """Return what the task cells and locked cells of a solution define; `also`: titles of functions in explore cells.

    An explore cell is run if it defines one of the names in `also` at its top level.
    """
    wanted = {f"{kind} {name}" for name in also for kind in ("def", "class")}
    names: dict[str, Any] = {"__name__": "solution"}
    for cell in read_source(folder(lab)).cells:
        if cell.cell_type != "code" or cell.test:
            continue
        defines = {line.partition("(")[0].partition(":")[0] for line in cell.lines}
        if cell.solution or cell.locked or wanted & defines:
            exec(compile(cell.source, cell.grade_id, "exec"), names)
    return names


def median_and_range(found: Sequence[float], digits: int = 3) -> str:
    """Return "median 0.970 (0.961 to 0.978)"."""
    return f"median {np.median(found):.{digits}f} ({min(found):.{digits}f} to {max(found):.{digits}f})"


def mean_and_spread(found: Sequence[float], digits: int = 3) -> str:
    """Return "0.970 (0.004)": mean and standard deviation."""
    return f"{np.mean(found):.{digits}f} ({np.std(found):.{digits}f})"


def mean_of(values: Sequence[float] | NDArray[np.float64]) -> dict[str, Any]:
    """Return the mean of a number a seed, with their spread and number, as `result_card` takes them."""
    return {"value": float(np.mean(values)), "spread": float(np.std(values)), "n": len(values)}


def threshold(title: str, measure: Callable[[int], float], asked: float, *, at_least: bool = True) -> list[float]:
    """Measure once a seed, print all values beside what a check asks for, and return them.

    Raises SystemExit if a seed does not pass: a threshold is set with margin.
    """
    found = [float(measure(seed)) for seed in SEEDS]
    print(f"{title}: {' '.join(f'{value:.3f}' for value in sorted(found))}")
    print(f"  {median_and_range(found)}; the check asks for {'at least' if at_least else 'at most'} {asked:g}")
    if any((value < asked) if at_least else (value > asked) for value in found):
        raise SystemExit(f"{title}: a seed does not pass the check")
    return found


def main() -> None:
    """Run a solution's code cells in order and print how long each took."""
    lab = sys.argv[1]
    os.environ.setdefault("MPLBACKEND", "agg")
    with tempfile.TemporaryDirectory() as directory:  # for what the lab writes
        os.chdir(directory)
        _run(lab)


def _run(lab: str) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    total = 0.0
    for cell in read_source(folder(lab)).cells:
        if cell.cell_type == "code":
            start = time.perf_counter()
            exec(compile(cell.source, f"{lab}.py:{cell.line} {cell.grade_id}", "exec"), names)
            taken = time.perf_counter() - start
            total += taken
            print(f"-- {taken:6.2f} s  line {cell.line:4}  {cell.grade_id or 'explore'}", flush=True)
    print(f"-- {total:6.2f} s  in all")


if __name__ == "__main__":
    main()
