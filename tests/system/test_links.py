"""Lab 11's model on throttled links between two network namespaces: `python -m benchmarks.links`."""

from __future__ import annotations

import sys

import pytest

from benchmarks.links import LINKS, Found, measure, missing

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]


@pytest.fixture(scope="module")
def found() -> list[Found]:
    if sys.platform != "linux":
        pytest.skip("Linux")
    if problem := missing():
        pytest.skip(problem)
    return measure()


@pytest.mark.parametrize("number", range(len(LINKS)), ids=lambda number: f"{LINKS[number].rate / 1e6:.0f}-mbit")
def test_the_fitted_bandwidth_is_the_link_s(number: int, found: list[Found]) -> None:
    one = found[number]
    assert one.rate == LINKS[number].rate
    assert 0.75 < one.fitted / one.rate < 1.25, one
    assert one.alpha < 0.005, one  # no cable of a machine's own takes milliseconds


@pytest.mark.parametrize("number", range(len(LINKS)), ids=lambda number: f"{LINKS[number].rate / 1e6:.0f}-mbit")
def test_the_model_predicts_the_ring_all_reduce_of_a_larger_array(number: int, found: list[Found]) -> None:
    one = found[number]
    assert one.array > LINKS[number].largest
    assert 0.75 < one.measured / one.predicted < 1.25, one
