"""Print what trainings cost until they met the target, failed ones and tuning included, and what a report must explain.

python cost.py FOLDER-OF-RUNS [--price DOLLARS-AN-HOUR | --price MACHINE=DOLLARS-AN-HOUR ...]

Runs of one name differ by their seed. Their expected cost is that of all of them, over the number that met the target:
whoever begins again until it is met pays that in the mean (ERT, expected running time; Hansen et al. 2009, BBOB).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASELINE, FINAL = "baseline", "final"
"""The names of what a team begins with, and of what it proposes."""
SEEDS = 5
"""So many seeds each of the two needs at least."""
_KINDS = {"name": str, "machine": str, "seed": int, "batch": int, "ranks": int, "machines": int}


@dataclass(frozen=True)
class Run:
    """A record of train.py. cost: in cents where a price was given, else in seconds of one machine."""

    seed: int
    settings: Mapping[str, Any]
    met: bool
    ended: bool
    steps: int
    test: float | None
    cost: float


@dataclass(frozen=True)
class Runs:
    """All runs of one name."""

    name: str
    runs: tuple[Run, ...]

    @property
    def met(self) -> int:
        return sum(run.met for run in self.runs)

    @property
    def cost(self) -> float:
        return sum(run.cost for run in self.runs)

    @property
    def expected(self) -> float | None:
        """The cost until the target is met, in the mean; None if no run met it."""
        return self.cost / self.met if self.met else None

    @property
    def seeds(self) -> list[int]:
        return sorted(run.seed for run in self.runs)


def run_of(record: Any, prices: Mapping[str, float]) -> Run:
    """Return a record's run; raise ValueError that says what is wrong with it, or LookupError for what it lacks."""
    about, curve = record["settings"], record["curve"]
    for what, kind in _KINDS.items():
        if type(about[what]) is not kind or (kind is int and what != "seed" and about[what] < 1):
            raise ValueError(f"{what}: {about[what]!r}")
    seconds, target, test = record["seconds"], record["target"], record["test"]
    for number in (seconds, target, *(look["accuracy"] for look in curve), *([] if test is None else [test])):
        if type(number) not in (int, float) or not 0 <= number < math.inf:
            raise ValueError(f"not a number of at least 0: {number!r}")
    price = prices.get(about["machine"], prices.get(""))
    if prices and price is None:
        raise ValueError(f"no price for the machine {about['machine']!r}")
    cost = seconds * about["machines"] * (1 if price is None else price / 36)
    met, steps = bool(curve) and curve[-1]["accuracy"] >= target, curve[-1]["step"] if curve else 0
    return Run(about["seed"], about, met, record["ended"] is True, steps, test, cost)


def read(folder: Path, prices: Mapping[str, float] | None = None) -> list[Runs]:
    """Return the runs of a folder by name, cheapest first; raise SystemExit if one cannot be read."""
    found: dict[str, list[Run]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            run = run_of(json.loads(path.read_text(encoding="utf-8")), prices or {})
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise SystemExit(f"{path}: not a record of train.py: {type(error).__name__}: {error}") from None
        found.setdefault(run.settings["name"], []).append(run)
    if not found:
        raise SystemExit(f"{folder}: no runs\nhint: train.py writes one file for each, into --runs")
    every = [Runs(name, tuple(runs)) for name, runs in found.items()]
    return sorted(every, key=lambda runs: (runs.expected is None, runs.expected, runs.name))


def middle(values: Sequence[float], form: str = ",.0f") -> str:
    """Return the median and the range."""
    if not values:
        return "-"
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def table(every: Iterable[Runs], unit: str) -> str:
    """Return the table as Markdown."""
    rows = [
        f"| setting | batch | ranks | machines | met | steps, median (range) | expected {unit} | of a run | test, % |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for runs in every:
        about, tests = runs.runs[0].settings, [100 * run.test for run in runs.runs if run.test is not None]
        setting = f"{runs.name} | {about['batch']} | {about['ranks']} | {about['machines']} x {about['machine']}"
        expected = "never" if runs.expected is None else f"{runs.expected:.3g}"
        test = f"{statistics.mean(tests):.1f}" if tests else "-"
        test += f" ± {statistics.stdev(tests):.1f}" if len(tests) > 1 else ""
        steps = middle([run.steps for run in runs.runs if run.met])
        costs = middle([run.cost for run in runs.runs], ".3g")
        rows.append(f"| {setting} | {runs.met} of {len(runs.runs)} | {steps} | {expected} | {costs} | {test} |")
    return "\n".join(rows)


def questions(every: Sequence[Runs]) -> list[str]:
    """Return what a reader of the report would ask, and the report must answer."""
    named = {runs.name: runs for runs in every}
    count = {name: len({*named[name].seeds}) if name in named else 0 for name in (BASELINE, FINAL)}
    asked = [f"{name}: {n} seeds; {SEEDS} at least" for name, n in count.items() if n < SEEDS]
    if FINAL in named:
        chosen_by = {seed for runs in every if runs.name != FINAL for seed in runs.seeds}
        if again := sorted(chosen_by & {*named[FINAL].seeds}):
            asked.append(f"{FINAL}: with seeds {again} it was chosen; new ones say what it costs")
    if len(sets := {str(run.settings.get("data")) for runs in every for run in runs.runs}) > 1:
        asked.append(f"all: the runs have several data sets, {', '.join(sorted(sets))}")
    for runs in every:
        asked += _about(runs)
    return asked


def _about(runs: Runs) -> list[str]:
    asked, seeds, n = [], runs.seeds, len(runs.runs)
    if twice := sorted({seed for seed in seeds if seeds.count(seed) > 1}):
        asked.append(f"{runs.name}: seeds {twice} ran more than once: why?")
    if (missing := seeds[-1] - seeds[0] + 1 - len({*seeds})) > 0:
        asked.append(f"{runs.name}: {missing} seeds between {seeds[0]} and {seeds[-1]} are not there: why?")
    own = [{key: str(value) for key, value in run.settings.items() if key != "seed"} for run in runs.runs]
    if differ := sorted(key for key in {key for one in own for key in one} if len({one.get(key) for one in own}) > 1):
        asked.append(f"{runs.name}: its runs differ in {', '.join(differ)}")
    if failed := n - runs.met:
        asked.append(f"{runs.name}: {failed} of {n} runs did not meet the target: why?")
    if broken := sum(not run.ended for run in runs.runs):
        asked.append(f"{runs.name}: {broken} of {n} runs were broken off: why?")
    return asked


def balance(every: Sequence[Runs], unit: str) -> str:
    """Return what all runs cost together, and after how many trainings the search is paid back."""
    named = {runs.name: runs for runs in every}
    total = sum(runs.cost for runs in every)
    said = f"All {sum(len(runs.runs) for runs in every)} runs together: {total:.3g} {unit}."
    base, final = named.get(BASELINE), named.get(FINAL)
    if not base or not final or base.expected is None or final.expected is None:
        return f"{said} Baseline and final setting cannot be compared: not both have met the target."
    saved = base.expected - final.expected
    if saved <= 0:
        return f"{said} The final setting costs {-saved:.3g} {unit} more than the baseline."
    said += f" A training with the final setting saves {saved:.3g} {unit}"
    if max(run.cost for run in final.runs) >= min(run.cost for run in base.runs):
        said += ", which is within the spread of the runs"
    search = total - base.cost - final.cost
    return f"{said}; the search for it is paid back after {math.ceil(search / saved)} trainings."


def price_of(text: str) -> tuple[str, float]:
    """Return the machine, or "" for any, and its price; raise ValueError if it is none."""
    machine, _, price = text.rpartition("=")
    if not 0 < float(price) < math.inf:
        raise ValueError(text)
    return machine, float(price)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--price",
        type=price_of,
        action="append",
        default=[],
        help="US dollars an hour for one machine, or MACHINE=DOLLARS where there are several kinds",
    )
    given = parser.parse_args()
    unit = "cents" if given.price else "machine seconds"
    every = read(given.folder, dict(given.price))
    print(table(every, unit), balance(every, unit), sep="\n\n")
    if asked := questions(every):
        print("\nThe report must answer:\n" + "\n".join(f"* {question}" for question in asked))


if __name__ == "__main__":
    main()
