"""A lab's solution in other styles, by the grader itself: what loses a point though it is right.

Usage: python -m tests.labs.styled LAB [FIRST LAST] [--way NAME|each] [--most N]; the solution is written anew by each
seed from FIRST to LAST, or with one way wherever it can be taken. Prints, as JSON in the last line, what was lost.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder.execution import Executor, preloads
from autograder.grading.checks import checks_of
from autograder.grading.scoring import score_notebook
from autograder.model import CellScore
from autograder.release.build import build
from autograder.release.source import LabSource, read_source
from autograder.sandbox import choose
from tests.labs.rows import rows_of
from tests.labs.styles import NAMES, rewritten

__all__ = ["lost"]

ROOT = Path(__file__).parents[2]
_TOLD = (
    "a rank starts no thread",
    "cannot be copied: cannot pickle",
    "a case above, which says why",
    "another case passes",
)
"""In what a notebook says, too, of what a function that goes to other processes may not hold or do."""


def lost(folder: Path, draws: list[tuple[str, random.Random, str]], most: int) -> Iterator[dict[str, object]]:
    """Yield, for each draw in which a test loses a point, its name, the ways taken, and each test's message."""
    source = read_source(folder)
    whole = build(folder).source_notebook.decode()
    rows = rows_of(source)
    executor = Executor(choose(), preloads((cell.source for cell in source.cells), source.lab.frameworks))
    try:
        for name, draw, only in draws:
            notebook = nbformat.reads(whole, as_version=4)
            taken = _write_anew(notebook, source, draw, only, most)
            explore = {cell.id for cell in notebook.cells if cell.metadata.get("labkit", {}).get("explore")}
            execution = executor.run(
                notebook, limits=source.lab.limits, files={}, explore=explore, checks=checks_of(rows)
            )
            scores = [score for score in score_notebook(source.lab.name, execution, rows) if score.points is not None]
            found = {
                score.grade_id: [score.points, score.message, *[c for c in score.cases if not c["passed"]]]
                for score in scores
                if score.points != score.max_points and not _is_told(score)
            }
            print(f"{folder.name}, {name}: {len(taken)} ways, {len(found)} tests lose points", flush=True)
            if found or not execution.complete:
                yield {"draw": name, "taken": taken, "lost": found, "problems": [str(p) for p in execution.problems]}
    finally:
        executor.close()


def _is_told(score: CellScore) -> bool:
    """Whether all that failed says that something does not go to another process: in a notebook, too."""
    failed = [case["message"] for case in score.cases if not case["passed"]]
    return bool(failed) and all(any(words in message for words in _TOLD) for message in failed)


def _write_anew(
    notebook: nbformat.NotebookNode, source: LabSource, draw: random.Random, only: str, most: int
) -> dict[str, list[str]]:
    """Write the task cells of a notebook in other styles; return the ways taken, by cell."""
    tasks = {c.grade_id for c in source.cells if c.solution and c.cell_type == "code"}
    taken: dict[str, list[str]] = {}
    for cell in notebook.cells:
        if cell.id in tasks:
            found = rewritten(cell.source, draw, only=only, most=most)
            cell.source = found.source
            if found.taken:
                taken[cell.id] = list(found.taken)
    return taken


def main() -> None:
    """Write and grade one lab's solution; print what was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lab")
    parser.add_argument("seeds", nargs="*", type=int, default=[0, 1])
    parser.add_argument("--way", default="", choices=["", "each", *NAMES], metavar="NAME")
    parser.add_argument("--most", type=int, default=2)
    asked = parser.parse_args()
    first, last = asked.seeds
    ways = NAMES if asked.way == "each" else [asked.way]
    draws = [
        (f"{way} {seed}".strip(), random.Random(f"{asked.lab} {seed}"), way)
        for way in ways
        for seed in ([0] if way else range(first, last))
    ]
    found = list(lost(ROOT / "solutions" / asked.lab, draws, asked.most))
    for each in found:
        print(json.dumps(each, indent=1))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
