"""Make the example of a capstone's report: python -m docs.capstone.example.make [--run] [--check].

--run trains first, some ten minutes on two idle cores; otherwise the report is written from the runs that lie here.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from docs.capstone import cost

HERE = Path(__file__).resolve().parent
TYPE, PRICE = "c7i.large", 0.08925
"""A machine of two virtual cores, in docker/cloud/prices.csv; what ran here stands for one."""
SETTINGS: Mapping[str, tuple[int, tuple[str, ...], range]] = {
    "baseline": (1, (), range(5)),
    "two-ranks": (2, (), range(5)),
    "batch-128": (2, ("--batch", "128", "--rate", "0.1"), range(5)),
    "batch-256": (2, ("--batch", "256", "--rate", "0.1"), range(5)),
    "batch-256-warm": (2, ("--batch", "256", "--rate", "0.2", "--warm-up", "60"), range(5)),
    "batch-512-warm": (2, ("--batch", "512", "--rate", "0.4", "--warm-up", "60"), range(5)),
    "final": (2, ("--batch", "128", "--rate", "0.1"), range(10, 15)),
}
"""Of each name: ranks, what differs from train.py's own settings, seeds."""


def run() -> None:
    """Train each setting with each seed, the seeds outermost: what else the machine does meets every setting."""
    for old in (HERE / "runs").glob("*.json"):
        old.unlink()
    for place in range(5):
        for name, (ranks, options, seeds) in SETTINGS.items():
            given = ["--name", name, "--seed", str(seeds[place]), "--runs", str(HERE / "runs"), *options]
            launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
            subprocess.run([*launcher, str(HERE.parent / "train.py"), *given], check=True)


def figure(every: Mapping[str, cost.Runs]) -> str:
    """Return accuracy against cents, of each run a line, of each setting a point where the target was met."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "capstone", "font.size": 9, "svg.fonttype": "none"}):
        drawn = Figure(figsize=(7, 3.4), layout="constrained")
        axes = drawn.subplots()
        for place, name in enumerate(("baseline", "final")):
            for number, one in enumerate(every[name].runs):
                cents = [cost.in_unit(look["seconds"], PRICE) for look in one["curve"]]
                read = [100 * look["accuracy"] for look in one["curve"]]
                axes.plot(
                    cents,
                    read,
                    f"C{place}",
                    lw=1,
                    label=f"{name}, {len(every[name].runs)} seeds" if not number else None,
                )
                axes.plot(cents[-1:], read[-1:], f"oC{place}", ms=4)
        axes.axhline(95, color="0.5", lw=0.8, ls="--")
        axes.annotate("target", (0, 95), (2, 3), textcoords="offset points", color="0.4")
        axes.set(xlabel="cost, US cents", ylabel="validation accuracy, %", ylim=(60, 98), xlim=(0, None))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower right")
        text = io.StringIO()
        drawn.savefig(text, format="svg", metadata={"Date": None, "Title": "Accuracy against cost"})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="train first")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if the report is not that of the runs"
    )
    given = parser.parse_args()
    if given.run:
        run()
    every = cost.read(HERE / "runs")
    made = {"report.md": report(every), "cost.svg": figure({runs.name: runs for runs in every})}
    stale = [name for name, text in made.items() if not (HERE / name).exists() or (HERE / name).read_text() != text]
    if given.check:
        raise SystemExit(f"{', '.join(stale)}: python -m docs.capstone.example.make" if stale else 0)
    for name in stale:
        (HERE / name).write_text(made[name], encoding="utf-8")
    print(f"{HERE}: {', '.join(stale) or 'nothing'} written")
