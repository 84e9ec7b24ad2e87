"""Lab 13's processes by themselves: every gradient is counted, and no task of TensorFlow's outlives its cell."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from autograder.release.source import read_source

LAB = Path(__file__).parents[2] / "solutions" / "13_consistency"
NAMES = "serve", "cluster_of", "addresses", "tensorflow", "strategy", "coord", "with_t"
WANTED = tuple(f"def {name}" for name in NAMES)


@cache
def _lab() -> dict[str, Any]:
    """Return what the task cells, the locked cells and the cells with processes define; loops that run them do not."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in read_source(LAB).cells:
        if cell.cell_type == "code" and not cell.grade and (not cell.explore or any(w in cell.source for w in WANTED)):
            source = cell.source.partition("\nfor servers, workers in")[0]
            exec(compile(source, cell.grade_id or "explore", "exec"), space)
    return space


@pytest.mark.slow
def test_two_servers_on_ranks_take_every_gradient_of_two_workers() -> None:
    share, stale, sent = _lab()["run_servers"](2, 2, 100)
    assert (len(stale), sent) == (200, 800)
    assert min(stale) >= 0
    assert share > 0.5


@pytest.mark.slow
@pytest.mark.thorough  # the whole lab, which runs at each change, starts the same tasks in the sandbox
def test_no_task_of_tensorflow_outlives_its_cell(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorflow")
    _, done, places = _lab()["with_tensorflow"](40)
    assert done == 40
    assert [re.findall(r"/job:ps/.*/task:(\d)", place) for place in places] == [["0"], ["1"]]
    numbers = [int(number) for number in re.findall(r"process (\d+)", capsys.readouterr().out)]
    assert len(numbers) == 4
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
