"""How long something takes: warm-up, synchronised devices, the median and its spread."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from statistics import median, quantiles
from time import perf_counter
from typing import Any

__all__ = ["Comparison", "Timing", "bench", "compare"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True)
class Timing:
    """How long a call takes. `samples_s`: seconds a call, one entry a sample; `result`: what the last call returned."""

    name: str
    samples_s: tuple[float, ...]
    calls_per_sample: int = 1
    result: Any = field(default=None, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.samples_s)

    @property
    def median_s(self) -> float:
        """Median seconds a call."""
        return median(self.samples_s)

    @property
    def quartiles_s(self) -> tuple[float, float]:
        """First and third quartile, in seconds a call: half of the samples lie between them."""
        return _quartiles(self.samples_s)

    @property
    def iqr_s(self) -> float:
        """Distance between the quartiles, in seconds a call."""
        low, high = self.quartiles_s
        return high - low

    def ratio(self, other: Timing) -> float:
        """Return how many times as long this takes as `other`: the ratio of the medians."""
        return self.median_s / other.median_s

    def __repr__(self) -> str:
        (typical, low, high), unit = _scaled(self.median_s, *self.quartiles_s)
        calls = f" of {self.calls_per_sample} calls" if self.calls_per_sample > 1 else ""
        if self.n == 1:
            return f"{self.name}: {typical} {unit} a call (1 sample{calls}, so no spread)"
        return f"{self.name}: {typical} {unit} a call (middle half {low} to {high} {unit}, {self.n} samples{calls})"


@dataclass(frozen=True)
class Comparison:
    """Timings taken in turns, so that samples with the same index were taken under the same conditions."""

    timings: dict[str, Timing]

    def __getitem__(self, name: str) -> Timing:
        return self.timings[name]

    def ratio(self, name: str, other: str) -> tuple[float, float, float]:
        """Return how many times as long `name` takes as `other`: first quartile, median, third quartile.

        The ratio is taken round by round, so a slow spell of the machine, which hits both, cancels.
        """
        pairs = zip(self[name].samples_s, self[other].samples_s, strict=True)
        ratios = [mine / theirs for mine, theirs in pairs]
        low, high = _quartiles(ratios)
        return low, median(ratios), high

    def _rows(self) -> list[tuple[str, ...]]:
        first = next(iter(self.timings))
        rows: list[tuple[str, ...]] = [("", "median", "middle half", f"vs {first}", "middle half", "samples")]
        for name, timing in self.timings.items():
            (typical, low, high), unit = _scaled(timing.median_s, *timing.quartiles_s)
            least, middle, most = (f"{_digits(value)}x" for value in self.ratio(name, first))
            versus = ("1x", "") if name == first else (middle, f"{least} to {most}")
            rows.append((name, f"{typical} {unit}", f"{low} to {high} {unit}", *versus, str(timing.n)))
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in rows
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head, *body = self._rows()

        def line(tag: str, cells: tuple[str, ...]) -> str:
            first, *rest = (escape(cell) for cell in cells)
            numbers = "".join(f"<{tag} style='text-align:right'>{cell}</{tag}>" for cell in rest)
            return f"<tr><th style='text-align:left'>{first}</th>{numbers}</tr>"

        rows = "".join(line("td", cells) for cells in body)
        return f"<table><thead>{line('th', head)}</thead><tbody>{rows}</tbody></table>"


def bench(
    fn: Callable[..., Any], *args: Any, repeat: int = 10, warmup: int = 1, min_time_s: float = 1e-3, name: str = ""
) -> Timing:
    """Time fn(*args) and return the median and spread of `repeat` samples.

    warmup: calls that are not counted; 0 times the cold call, compilation and caches included, and then every sample is
    one call. min_time_s: a sample repeats the call until it lasts this long, so that the clock's resolution does not
    matter. GPU work that is still queued is waited for before and after every sample, if torch is loaded.

    Raises ValueError for repeat < 1, warmup < 0 or a negative min_time_s, and whatever fn raises.
    """
    _validate(repeat, warmup, min_time_s)
    timer = _Timer(name or getattr(fn, "__name__", type(fn).__name__), fn, args)
    timer.prepare(warmup, min_time_s)
    for _ in range(repeat):
        timer.sample()
    return timer.timing()


def compare(
    functions: Mapping[str, Callable[[], Any]], *, repeat: int = 10, warmup: int = 1, min_time_s: float = 1e-3
) -> Comparison:
    """Time several functions in turns and return one table, each against the first.

    Every round takes one sample of each function, starting with another one each time, so that drift (clock rate, heat,
    other users) hits all alike. The options are those of `bench`. Raises ValueError if there is nothing to compare.
    """
    _validate(repeat, warmup, min_time_s)
    if not functions:
        raise ValueError('compare: no functions given\nhint: compare({"loop": f, "matmul": g})')
    timers = [_Timer(name, fn, ()) for name, fn in functions.items()]
    for timer in timers:
        timer.prepare(warmup, min_time_s)
    for turn in range(repeat):
        start = turn % len(timers)
        for timer in timers[start:] + timers[:start]:
            timer.sample()
    return Comparison({timer.name: timer.timing() for timer in timers})


class _Timer:
    """One function being timed."""

    def __init__(self, name: str, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.name, self.fn, self.args = name, fn, args
        self.calls = 1
        self.samples_s: list[float] = []
        self.result: Any = None

    def prepare(self, warmup: int, min_time_s: float) -> None:
        """Warm up, then find how many calls last min_time_s; the search's own calls are not counted either."""
        if not warmup:
            return
        taken = [self._run() for _ in range(warmup)][-1]
        while taken < min_time_s:
            self.calls = max(self.calls + 1, math.ceil(self.calls * min(10.0, 1.2 * min_time_s / max(taken, 1e-9))))
            taken = self._run()

    def _run(self) -> float:
        fn, args = self.fn, self.args
        _synchronise()
        start = perf_counter()
        for _ in range(self.calls - 1):
            fn(*args)
        self.result = fn(*args)
        _synchronise()
        return perf_counter() - start

    def sample(self) -> None:
        self.samples_s.append(self._run() / self.calls)

    def timing(self) -> Timing:
        return Timing(self.name, tuple(self.samples_s), self.calls, self.result)


def _synchronise() -> None:
    """Wait for the GPU's queue; there is nothing to wait for unless torch has started one."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()


def _validate(repeat: int, warmup: int, min_time_s: float) -> None:
    if repeat < 1 or warmup < 0 or not 0 <= min_time_s < math.inf:
        raise ValueError(
            f"bench: repeat={repeat}, warmup={warmup}, min_time_s={min_time_s}\n"
            "hint: at least one sample; neither warm-up nor time may be negative"
        )


def _quartiles(samples: tuple[float, ...] | list[float]) -> tuple[float, float]:
    if len(samples) == 1:
        return samples[0], samples[0]
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return low, high


def _scaled(first: float, *others: float) -> tuple[list[str], str]:
    """Return durations in the unit that suits the first one, three digits each, and the unit."""
    size, unit = next(((size, unit) for size, unit in _UNITS if first >= size), _UNITS[-1])
    return [_digits(value / size) for value in (first, *others)], unit


def _digits(value: float) -> str:
    """Return the value with three significant digits, never in exponent form."""
    if value <= 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"
