from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from autograder.boundary import frames
from autograder.execution import trusted_tests
from autograder.execution.time_limit import Allowance
from autograder.execution.trusted_tests import Checks, TrustedCells
from autograder.sandbox import Policy, ProcessLimits


@pytest.mark.parametrize(("hangs_up", "overdue"), [(True, False), (False, True)])
def test_a_process_that_does_not_answer_in_time_may_have_waited_for_the_machine(
    hangs_up: bool, overdue: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a submission is run once more, alone; one whose process ended is not."""
    nothing: Any = None
    monkeypatch.setattr(trusted_tests, "_GRACE_S", 0.0)
    here, there = socket.socketpair()
    with TrustedCells(nothing, Checks(), ProcessLimits(), Policy(), Path()) as cells, here, there:
        cells._control = frames.Connection(here)
        if hangs_up:
            there.shutdown(socket.SHUT_WR)
        report, late = asyncio.run(cells.run("a-check", "f(1)", 1, Allowance(0.1, 0.1, 0.0)))
    assert (report.failure is not None, late, cells.overdue) == (True, False, overdue)
    assert ("in time" in cells.failed()) is overdue
