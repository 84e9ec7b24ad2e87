"""Make the example of a capstone's report: python -m docs.capstone.example.make [--run] [--check].

--run trains first, some ten minutes on two idle cores; otherwise the report is written from the runs that lie here.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.capstone import cost

HERE = Path(__file__).resolve().parent
MACHINE, PRICE = "c7i.large", 0.08925
"""A machine of two virtual cores, in docker/cloud/prices.csv; what ran here stands for one."""
SETTINGS: Mapping[str, tuple[int, tuple[str, ...], range]] = {
    "baseline": (1, (), range(5)),
    "two-ranks": (2, (), range(3)),
    "rate-0.025": (2, ("--rate", "0.025"), range(3)),
    "rate-0.1": (2, ("--rate", "0.1"), range(3)),
    "batch-32": (2, ("--batch", "32", "--rate", "0.025"), range(3)),
    "batch-256": (2, ("--batch", "256", "--rate", "0.2", "--warm-up", "60"), range(3)),
    "final": (2, (), range(10, 15)),
}
"""Of each name: ranks, what differs from train.py's own settings, seeds."""


def run() -> None:
    """Train each setting with each seed, the seeds outermost: what else the machine does meets every setting."""
    for old in (HERE / "runs").glob("*.json"):
        old.unlink()
    for turn in range(max(len(seeds) for _, _, seeds in SETTINGS.values())):
        for name, (ranks, options, seeds) in SETTINGS.items():
            if turn < len(seeds):
                given = ["--name", name, "--seed", str(seeds[turn]), "--runs", str(HERE / "runs")]
                given += ["--machine", MACHINE, *options]
                launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
                subprocess.run([*launcher, str(HERE.parent / "train.py"), *given], check=True)


def records(name: str) -> list[dict[str, Any]]:
    """Return the records of one setting."""
    return [json.loads(path.read_text()) for path in sorted((HERE / "runs").glob(f"{name}-seed*.json"))]


def parts(name: str) -> tuple[float, float]:
    """Return the median seconds before the first step, and of a step; looks at validation images are part of it."""
    starts, steps = [], []
    for run in records(name):
        first, last = run["curve"][0], run["curve"][-1]
        step = (last["seconds"] - first["seconds"]) / (last["step"] - first["step"])
        steps.append(step)
        starts.append(first["seconds"] - first["step"] * step)
    return statistics.median(starts), statistics.median(steps)


def seconds(name: str) -> list[float]:
    return [float(run["seconds"]) for run in records(name)]


def middle_steps(runs: cost.Runs) -> float:
    return statistics.median(run.steps for run in runs.runs if run.met)


def report(every: list[cost.Runs]) -> str:
    """Return the report: its numbers are those of the runs; a sentence that they contradict is an error."""
    by_name = {runs.name: runs for runs in every}
    base, two, final = by_name["baseline"], by_name["two-ranks"], by_name["final"]
    searched = [runs for runs in every if runs.name not in ("baseline", "final")]
    assert searched[0] is two, f"{searched[0].name} is the cheapest: propose it"
    assert final.expected and base.expected and final.expected < base.expected, "the final setting saves nothing"
    failed = {runs.name for runs in every if runs.met < len(runs.runs)}
    assert failed <= {*ANSWERS}, f"a failure is not explained: {failed}"
    wide, small = by_name["batch-256"], by_name["batch-32"]
    assert middle_steps(wide) < middle_steps(two) < middle_steps(small), "larger batches no longer need fewer steps"
    start, step = parts("baseline")
    images = middle_steps(two) * 64
    return (
        (HERE / "report.in.md")
        .read_text(encoding="utf-8")
        .format(
            machine=MACHINE,
            price=PRICE,
            start=start,
            start_share=parts("final")[0] / statistics.median(seconds("final")),
            step_ms=1000 * step,
            base_s=statistics.median(seconds("baseline")),
            predicted=start + middle_steps(base) * step / 2,
            two_s=statistics.median(seconds("two-ranks")),
            two_step_ms=1000 * parts("two-ranks")[1],
            table=cost.table(every, "cents"),
            wide_steps=middle_steps(two) / middle_steps(wide),
            wide_images=middle_steps(wide) * 256 / images,
            small_images=middle_steps(small) * 32 / images,
            base_cents=base.expected,
            final_cents=final.expected,
            saved=1 - final.expected / base.expected,
            base_steps=middle_steps(base),
            final_steps=middle_steps(final),
            balance=cost.balance(every, "cents"),
            answers="\n".join(f"* *{asked}* {ANSWERS[asked.partition(':')[0]]}" for asked in cost.questions(every)),
            test=100 * statistics.mean(run["test"] for run in records("final")),
            rising=100 * max(look["accuracy"] for run in records("rate-0.1") for look in run["curve"]),
        )
    )


ANSWERS = {
    "rate-0.1": "With twice the rate the accuracy swings below the target: the steps are too long for momentum "
    "0.9. Such runs cost more than those that arrive, and stand in the table.",
    "batch-256": "The rule that lets the rate grow with the batch holds up to the critical batch. Beyond it the first "
    "steps may end in a network that guesses; train.py gives such a run up, and the others pay for it.",
}
"""What the report answers to each question of cost.py."""


def figure() -> str:
    """Return accuracy against cents, of each run a line, of each setting a point where the target was met."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "capstone", "font.size": 9, "svg.fonttype": "none"}):
        drawn = Figure(figsize=(7, 3.4), layout="constrained")
        axes = drawn.subplots()
        for place, name in enumerate(("baseline", "final")):
            for number, one in enumerate(records(name)):
                cents = [look["seconds"] * PRICE / 36 for look in one["curve"]]
                read = [100 * look["accuracy"] for look in one["curve"]]
                axes.plot(
                    cents,
                    read,
                    f"C{place}",
                    lw=1,
                    label=None if number else f"{name}, {len(SETTINGS[name][2])} seeds",
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
    every = cost.read(HERE / "runs", {"": PRICE})
    made = {"report.md": report(every), "cost.svg": figure()}
    stale = [name for name, text in made.items() if not (HERE / name).exists() or (HERE / name).read_text() != text]
    if given.check:
        raise SystemExit(f"{', '.join(stale)}: python -m docs.capstone.example.make" if stale else 0)
    for name in stale:
        (HERE / name).write_text(made[name], encoding="utf-8")
    print(f"{HERE}: {', '.join(stale) or 'nothing'} written")


if __name__ == "__main__":
    main()
