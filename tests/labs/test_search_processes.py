"""Lab 10's study in two processes, one of which is killed: by itself, and in the sandbox with its whole notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.release.source import read_source

LAB = Path(__file__).parents[2] / "solutions" / "10_search"
WANTED = ("optuna = None", "def of_this_lab", "def search_with_optuna")


@pytest.mark.slow
def test_no_trial_is_lost_or_done_twice_when_a_worker_is_killed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in read_source(LAB).cells:
        if cell.cell_type == "code" and not cell.grade and (not cell.explore or any(w in cell.source for w in WANTED)):
            exec(compile(cell.source, cell.grade_id or "explore", "exec"), space)
    ended, _ = space["search_with_optuna"](32)
    numbers = [trial.user_attrs["number"] for trial in ended if trial.state.name in {"COMPLETE", "PRUNED"}]
    assert sorted(numbers) == list(range(32))
    assert [trial.state.name for trial in ended].count("FAIL") <= 1
    assert "ended with -9" in capsys.readouterr().out
