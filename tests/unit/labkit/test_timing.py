"""Timing: what is counted, what is not, and how it reads."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from labkit import _timing
from labkit._timing import Timing, bench, compare


class Clock:
    """A clock that only moves when told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(_timing, "perf_counter", lambda: self.now)

    def takes(self, *seconds: float) -> Callable[[], int]:
        """Return a function whose calls take these seconds, the last one forever; it counts its calls."""
        calls = 0

        def fn() -> int:
            nonlocal calls
            self.now += seconds[min(calls, len(seconds) - 1)]
            calls += 1
            return calls

        return fn


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_warm_up_is_not_counted_and_the_last_result_is_kept(clock: Clock) -> None:
    timing = bench(clock.takes(9.0, 9.0, 1.0, 2.0, 3.0), repeat=3, warmup=2)
    assert timing.samples_s == (1.0, 2.0, 3.0)
    assert (timing.n, timing.median_s, timing.result) == (3, 2.0, 5)


def test_without_warm_up_every_sample_is_one_call(clock: Clock) -> None:
    timing = bench(clock.takes(1e-3, 1e-6), repeat=2, warmup=0, min_time_s=1.0)
    assert timing.samples_s == pytest.approx((1e-3, 1e-6))
    assert timing.calls_per_sample == 1


def test_a_short_call_is_repeated_until_a_sample_lasts(clock: Clock) -> None:
    timing = bench(clock.takes(1e-6), repeat=4, min_time_s=1e-3)
    assert timing.calls_per_sample >= 1000
    assert timing.median_s == pytest.approx(1e-6)


def test_median_and_quartiles_are_those_of_the_samples(clock: Clock) -> None:
    timing = bench(clock.takes(0.0, 1.0, 2.0, 3.0, 4.0, 100.0), repeat=5, min_time_s=0)
    assert (timing.median_s, timing.quartiles_s, timing.iqr_s) == (3.0, (2.0, 4.0), 2.0)


def test_arguments_are_passed_on_and_errors_come_through() -> None:
    assert bench(divmod, 7, 2, repeat=1, min_time_s=0).result == (3, 1)
    with pytest.raises(ZeroDivisionError):
        bench(divmod, 7, 0)


def test_ratio_says_how_many_times_as_long() -> None:
    assert Timing("slow", (3.0, 4.0, 5.0)).ratio(Timing("fast", (2.0,))) == 2.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2.0, "2.00 s"),
        (0.0123, "12.3 ms"),
        (4.56e-5, "45.6 µs"),
        (7e-9, "7.00 ns"),
        (123.4, "123 s"),
        (0.0, "0 ns"),
    ],
)
def test_the_unit_suits_the_number(seconds: float, words: str) -> None:
    assert repr(Timing("f", (seconds,))) == f"f: {words} a call (1 sample, so no spread)"


def test_the_spread_is_shown_in_the_unit_of_the_median() -> None:
    timing = Timing("f", (0.9e-3, 1.0e-3, 1.1e-3), calls_per_sample=4)
    assert repr(timing) == "f: 1.00 ms a call (middle half 0.950 to 1.05 ms, 3 samples of 4 calls)"


@pytest.mark.parametrize("options", [{"repeat": 0}, {"warmup": -1}, {"min_time_s": -1.0}, {"min_time_s": float("nan")}])
def test_impossible_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="hint: at least one sample"):
        bench(int, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="hint: at least one sample"):
        compare({"int": int}, **options)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------------- comparison
def test_a_comparison_takes_turns_and_changes_who_is_first() -> None:
    order: list[str] = []

    def slow(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    compare({"a": slow("a"), "b": slow("b")}, repeat=4, min_time_s=0)
    assert "".join(order) == "ab" + "ab" + "ba" + "ab" + "ba"  # the first two calls are the warm-up


def test_drift_that_hits_all_alike_cancels_in_the_ratio(clock: Clock) -> None:
    drift = [1.0, 1.0, 2.0, 4.0, 8.0]
    both = {"fast": clock.takes(*drift), "slow": clock.takes(*(3 * d for d in drift))}
    comparison = compare(both, repeat=4, min_time_s=0)
    assert comparison.ratio("slow", "fast") == pytest.approx((3.0, 3.0, 3.0))
    assert comparison["slow"].iqr_s > 0


def test_a_comparison_reads_as_a_table() -> None:
    timings = {"loop": Timing("loop", (2e-3, 2e-3)), "matmul": Timing("matmul", (1e-3, 1e-3))}
    lines = repr(_timing.Comparison(timings)).splitlines()
    assert " ".join(lines[0].split()) == "median middle half vs loop middle half samples"
    assert " ".join(lines[1].split()) == "loop 2.00 ms 2.00 to 2.00 ms 1x 2"
    assert " ".join(lines[2].split()) == "matmul 1.00 ms 1.00 to 1.00 ms 0.500x 0.500x to 0.500x 2"
    assert len({line.rfind(end) + len(end) for line, end in zip(lines, ("samples", "2", "2"), strict=True)}) == 1


def test_names_are_escaped_in_the_html_table() -> None:
    html = _timing.Comparison({"<b>": Timing("<b>", (1.0, 1.0))})._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="no functions given"):
        compare({})


# ------------------------------------------------------------------------------------------------------------- devices
def test_queued_gpu_work_is_waited_for(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    def wait() -> None:
        clock.now += 5.0

    torch = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: True, synchronize=wait))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert bench(clock.takes(1.0), repeat=2, warmup=0).samples_s == (6.0, 6.0)


def test_a_sleep_takes_as_long_as_it_should() -> None:
    assert 0.01 <= bench(time.sleep, 0.01, repeat=3).median_s < 0.1
