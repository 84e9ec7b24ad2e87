"""Lab 10's study in two processes, one of which is killed: by itself, and in the sandbox with its whole notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.release.source import read_source
from labkit import trial_queue

LAB = Path(__file__).parents[2] / "solutions" / "10_search"


@pytest.mark.slow
def test_no_trial_is_lost_or_done_twice_when_a_worker_is_killed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in read_source(LAB).cells:
        if cell.cell_type == "code" and not cell.grade and not cell.explore:
            exec(compile(cell.source, cell.grade_id or "explore", "exec"), space)
    configs = [space["configuration"](space["SPACE"], 0, number) for number in range(32)]
    ended, _ = trial_queue.work_off(space["objective"], configs)
    numbers = [trial.user_attrs["number"] for trial in ended if trial.state.name in {"COMPLETE", "PRUNED"}]
    assert sorted(numbers) == list(range(32))
    assert [trial.state.name for trial in ended].count("FAIL") <= 1
    assert "ended with -9" in capsys.readouterr().out
