"""Print what trainings cost until they met the target, failed ones and tuning included, and what a report must explain.

python cost.py FOLDER-OF-RUNS [--price DOLLARS-AN-HOUR-OF-A-MACHINE]

Runs of one name differ by their seed. Their expected cost is that of all of them, over the number that met the target:
whoever begins again until it is met pays that in the mean (ERT, expected running time; Hansen et al. 2009, BBOB).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASELINE, FINAL = "baseline", "final"
"""The names of what a team begins with, and of what it proposes."""
SEEDS = 5
"""So many runs each of the two needs at least."""


@dataclass(frozen=True)
class Runs:
    """All runs of one name. seconds: of each, billed on every machine; steps: of those that met the target."""

    name: str
    runs: tuple[dict[str, Any], ...]

    @property
    def met(self) -> int:
        return sum(run["met"] for run in self.runs)

    @property
    def machine_seconds(self) -> float:
        return sum(float(run["seconds"]) * int(run["settings"]["machines"]) for run in self.runs)

    @property
    def expected(self) -> float | None:
        """Machine seconds until the target is met, in the mean; None if no run met it."""
        return self.machine_seconds / self.met if self.met else None

    def steps(self) -> list[float]:
        return [run["curve"][-1]["step"] for run in self.runs if run["met"]]

    def seeds(self) -> list[int]:
        return sorted(run["settings"]["seed"] for run in self.runs)


def read(folder: Path) -> list[Runs]:
    """Return the runs of a folder by name, cheapest first; raise SystemExit if one cannot be read."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            run = json.loads(path.read_text(encoding="utf-8"))
            found.setdefault(run["settings"]["name"], []).append(run)
            _ = run["met"], run["seconds"] * run["settings"]["machines"], run["curve"][-1]["step"], run["test"]
        except (ValueError, LookupError, TypeError) as error:
            raise SystemExit(f"{path}: not a record of train.py: {error!r}") from None
    if not found:
        raise SystemExit(f"{folder}: no runs\nhint: train.py writes one file for each, into --runs")
    every = [Runs(name, tuple(runs)) for name, runs in found.items()]
    return sorted(every, key=lambda runs: (runs.expected is None, runs.expected, runs.name))


def middle(values: Sequence[float], digits: int = 0) -> str:
    """Return the median and the range."""
    if not values:
        return "-"
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def table(every: Iterable[Runs], price: float | None) -> str:
    """Return the table as Markdown, in machine seconds or, with a price an hour, in cents."""
    unit = _unit(price)
    rows = [
        f"| setting | batch | ranks | machines | met | steps, median (range) | expected {unit} | test accuracy |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for runs in every:
        about, tests = runs.runs[0]["settings"], [100 * run["test"] for run in runs.runs]
        setting = f"{runs.name} | {about['batch']} | {about['ranks']} | {about['machines']}"
        expected = "never" if runs.expected is None else f"{in_unit(runs.expected, price):.3g}"
        test = f"{statistics.mean(tests):.1f}" + (f" ± {statistics.stdev(tests):.1f}" if len(tests) > 1 else "")
        rows.append(f"| {setting} | {runs.met} of {len(runs.runs)} | {middle(runs.steps())} | {expected} | {test} % |")
    return "\n".join(rows)


def _unit(price: float | None) -> str:
    return "machine seconds" if price is None else "cents"


def in_unit(machine_seconds: float, price: float | None) -> float:
    return machine_seconds if price is None else machine_seconds / 3600 * price * 100


def questions(every: Sequence[Runs]) -> list[str]:
    """Return what a reader of the report would ask, and the report must answer."""
    named = {runs.name: runs for runs in every}
    count = {name: len(named[name].runs) if name in named else 0 for name in (BASELINE, FINAL)}
    asked = [f"{name}: {n} runs; {SEEDS} seeds at least" for name, n in count.items() if n < SEEDS]
    if FINAL in named:
        chosen_by = {seed for runs in every if runs.name not in (BASELINE, FINAL) for seed in runs.seeds()}
        if again := sorted(chosen_by & {*named[FINAL].seeds()}):
            asked.append(f"{FINAL}: with seeds {again} it was chosen; new ones say what it costs")
    for runs in every:
        asked += _about(runs)
    return asked


def _about(runs: Runs) -> list[str]:
    asked, seeds = [], runs.seeds()
    if twice := sorted({seed for seed in seeds if seeds.count(seed) > 1}):
        asked.append(f"{runs.name}: seeds {twice} ran more than once: why?")
    if missing := sorted({*range(seeds[0], seeds[-1] + 1)} - {*seeds}):
        asked.append(f"{runs.name}: where are seeds {missing}?")
    own = [{key: value for key, value in run["settings"].items() if key != "seed"} for run in runs.runs]
    if differ := sorted(
        key for key in {key for one in own for key in one} if len({str(one.get(key)) for one in own}) > 1
    ):
        asked.append(f"{runs.name}: its runs differ in {', '.join(differ)}")
    if failed := len(runs.runs) - runs.met:
        asked.append(f"{runs.name}: {failed} of {len(runs.runs)} runs did not meet the target: why?")
    return asked


def balance(every: Sequence[Runs], price: float | None) -> str:
    """Return what all runs cost together, and after how many trainings the search is paid back."""
    unit, named = _unit(price), {runs.name: runs for runs in every}
    total = sum(runs.machine_seconds for runs in every)
    said = f"All {sum(len(runs.runs) for runs in every)} runs together: {in_unit(total, price):.3g} {unit}."
    base, final = named.get(BASELINE), named.get(FINAL)
    if base and final and base.expected and final.expected:
        saved = base.expected - final.expected
        if saved <= 0:
            return f"{said} The final setting costs {in_unit(-saved, price):.3g} {unit} more than the baseline."
        after = math.ceil((total - base.machine_seconds - final.machine_seconds) / saved)
        said += f" A training with the final setting saves {in_unit(saved, price):.3g} {unit}; "
        said += f"the search for it is paid back after {after} trainings."
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--price", type=float, help="US dollars an hour for one machine")
    given = parser.parse_args()
    every = read(given.folder)
    print(table(every, given.price), balance(every, given.price), sep="\n\n")
    if asked := questions(every):
        print("\nThe report must answer:\n" + "\n".join(f"* {question}" for question in asked))


if __name__ == "__main__":
    main()
