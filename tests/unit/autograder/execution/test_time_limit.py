"""A cell ends when it has computed as long as it may, or waited several times as long; never sooner."""

from __future__ import annotations

import asyncio
import time

import pytest

from autograder.execution.time_limit import PATIENCE, Budget, a_few_times
from autograder.model import Limits

LIMITS = Limits(cell_time_s=10, total_time_s=25)


class Machine:
    """A clock that moves when somebody sleeps, and processes that get a part of that time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
        self.now, self.used, self.share = 1000.0, 3.0, share
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(asyncio, "sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.pass_by(seconds)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        self.used += self.share * seconds


@pytest.mark.parametrize(
    ("share", "said", "seconds"),
    [
        (1.0, "10 s of computing", 10),
        (2.0, "10 s of computing", 10),
        (0.5, "10 s of computing", 20),
        (0.4, "10 s of computing", 25),
        (0.3, "30 s", 30),
        (0.0, "30 s", 30),
    ],
)
def test_a_cell_ends_when_it_has_computed_or_waited_enough(
    share: float, said: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch, share)
    budget = Budget(LIMITS, lambda: machine.used)
    allowed = budget.allowance()
    assert allowed is not None
    assert asyncio.run(budget.over(allowed)) == said
    assert machine.now - 1000 == pytest.approx(seconds, abs=0.8)
    assert budget.starved == (said == "30 s" and share > 0)


@pytest.mark.parametrize(("held_up", "starved"), [(20.0, True), (5.0, False)])
def test_what_was_ready_to_run_and_did_not_is_starved(
    held_up: float, starved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch, 0.01)
    before = iter([40.0])
    budget = Budget(LIMITS, lambda: machine.used, lambda: next(before, 40.0 + held_up))
    allowed = budget.allowance()
    assert allowed is not None
    assert asyncio.run(budget.over(allowed)) == "30 s"
    assert budget.starved == starved


@pytest.mark.parametrize(("share", "spent"), [(1.0, "25 s of computing in all"), (0.2, f"{PATIENCE * 25:g} s in all")])
def test_all_cells_together_have_their_limits_too(share: float, spent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, share)
    budget = Budget(LIMITS, lambda: machine.used)
    allowed = []
    while (found := budget.allowance()) is not None:
        allowed.append(found)
        machine.pass_by(5)
    assert budget.spent() == spent
    assert budget.starved == ("computing" not in spent)
    assert [round(a.computing_s) for a in allowed[:2]] == [10, 10]
    assert min(min(a.computing_s, a.waiting_s) for a in allowed) >= 1


@pytest.mark.parametrize(
    ("computed_s", "waited_s", "cell_s", "total_s", "cell_clock_s"),
    [
        (0.5, 1.0, 10, 10, 10),
        (2.0, 20.0, 10, 10, 60),
        (8.0, 10.0, 10, 24, 30),
        (25.0, 75.0, 10, 25, 30),
    ],
)
def test_another_run_may_take_a_few_times_as_long_as_the_first_and_no_longer_than_any(
    computed_s: float, waited_s: float, cell_s: float, total_s: float, cell_clock_s: float
) -> None:
    limits = a_few_times(LIMITS, computed_s, waited_s)
    assert (limits.cell_time_s, limits.total_time_s) == (cell_s, total_s)
    assert limits.patience * limits.cell_time_s == pytest.approx(cell_clock_s)
    assert limits.patience * total_s <= LIMITS.patience * LIMITS.total_time_s
