"""Forgers of many kinds play against the watch on tests in the student's kernel: few get through."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

from benchmarks.forging.cells import CELLS
from benchmarks.forging.forgers import FAMILIES, REMEMBERS
from benchmarks.forging.measure import attempt, false_alarms, play

KNOWS = {"nearness to the truth", "form, read in our source", REMEMBERS}
"""Families that know something no draw can take away: the answer to a few percent, how we invent, the other run."""


@pytest.mark.slow
def test_forgers_that_know_neither_answer_nor_order_get_through_at_most_one_time_in_four() -> None:
    tried: defaultdict[str, int] = defaultdict(int)
    through: defaultdict[str, int] = defaultdict(int)
    for tally in play(6, seed=1):
        tried[tally.family] += tally.attempts
        through[tally.family] += tally.through
    shares = {family: through[family] / tried[family] for family in FAMILIES}
    blind = [family for family in FAMILIES if family not in KNOWS]
    assert sum(through[family] for family in blind) / sum(tried[family] for family in blind) < 0.12, shares
    assert max(shares[family] for family in blind) < 0.3, shares  # 96 attempts, of which 15 % are expected
    assert shares["nearness to the truth"] < 0.5, shares
    assert shares[REMEMBERS] < 0.65, shares


@pytest.mark.parametrize("name", ["numbers", "lists", "allclose", "types", "words", "a table", "cases"])
def test_who_has_read_our_source_recognises_no_literal(name: str) -> None:
    rng = random.Random(2)
    assert not any(attempt(CELLS[name], FAMILIES["form, read in our source"](rng))[1] for _ in range(20))


@pytest.mark.parametrize("wrong", [False, True])
def test_nobody_who_forges_nothing_is_taken_for_a_forger(wrong: bool) -> None:
    assert false_alarms(CELLS, 25, wrong=wrong) == 0
