"""Runs a solution's code cells in one process and keeps, after each cell, what it printed, raised and took.

python -m benchmarks.gpu.play LAB FILE ASK ANSWER

ASK and ANSWER are file descriptors: before a cell that times the GPU a byte goes out and one must come back, so that
labs that run at the same time leave the machine to one of them.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from autograder.release.source import SourceCell, read_source
from benchmarks.common import folder

__all__ = ["play", "times_a_gpu"]

_SAYS = ("No GPU here", "No CUDA")
"""By which a lab's GPU cell is known: it says what it skips. Some labs have others, which only go on with it."""


def times_a_gpu(cell: SourceCell) -> bool:
    """Return whether a cell is what a lab does on a GPU only."""
    asks = "device()" in cell.source and cell.cell_type == "code" and not cell.test and not cell.solution
    return asks and (says_what_it_skips(cell) or 'if device() != "cpu":' in cell.source)


def says_what_it_skips(cell: SourceCell) -> bool:
    """Return whether it is the cell that says without a GPU what is left out."""
    return any(words in cell.source for words in _SAYS)


def play(lab: str, kept: Path, ask: int, answer: int) -> None:
    """Run the cells; an exception ends its cell only, as in a notebook whose cells are run one by one."""
    names: dict[str, Any] = {"__name__": "__main__"}
    record: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory:  # for what the lab writes
        os.chdir(directory)
        for cell in _code(lab):
            alone = times_a_gpu(cell)
            if alone:
                os.write(ask, b"?")
                os.read(answer, 1)
            record.append(_run(cell, names, lab) | {"gpu": alone, "says": says_what_it_skips(cell)})
            kept.write_text(json.dumps(record), encoding="utf-8")
        os.chdir("/")


def _code(lab: str) -> Iterator[SourceCell]:
    return (cell for cell in read_source(folder(lab)).cells if cell.cell_type == "code")


def _run(cell: SourceCell, names: dict[str, Any], lab: str) -> dict[str, Any]:
    printed, error = io.StringIO(), ""
    start = time.perf_counter()
    try:
        with redirect_stdout(printed):
            exec(compile(cell.source, f"{lab}.py:{cell.line}", "exec"), names)
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"
    seconds = time.perf_counter() - start
    return {
        "line": cell.line,
        "cell": cell.grade_id or "explore",
        "check": bool(cell.test),
        "seconds": round(seconds, 2),
        "printed": printed.getvalue(),
        "error": error,
    }


if __name__ == "__main__":
    play(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
