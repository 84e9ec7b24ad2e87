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
                given = ["--name", name, "--seed", str(seeds[turn]), "--runs", str(HERE / "runs"), *options]
                launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
                subprocess.run([*launcher, str(HERE.parent / "train.py"), *given], check=True)


def parts(runs: cost.Runs) -> tuple[float, float]:
    """Return the median seconds before the first step, and of a step with its share of the looks at validation images."""
    starts, steps = [], []
    for run in runs.runs:
        first, last = run["curve"][0], run["curve"][-1]
        step = (last["seconds"] - first["seconds"]) / (last["step"] - first["step"])
        steps.append(step)
        starts.append(first["seconds"] - first["step"] * step)
    return statistics.median(starts), statistics.median(steps)


def seconds(runs: cost.Runs) -> float:
    """Return the median seconds of the runs that met the target."""
    return statistics.median(run["seconds"] for run in runs.runs if run["met"])


def middle_steps(runs: cost.Runs) -> float:
    return statistics.median(runs.steps())


def report(every: list[cost.Runs]) -> str:
    """Return the report: its numbers are those of the runs; a sentence that they contradict is an error."""
    by_name = {runs.name: runs for runs in every}
    base, two, final = by_name["baseline"], by_name["two-ranks"], by_name["final"]
    start, step = parts(base)
    predicted = start + middle_steps(base) * step / 2
    searched = [runs for runs in every if runs.name not in ("baseline", "final")]
    cheapest, failed = searched[0], [runs for runs in searched if runs.met < len(runs.runs)]
    assert cheapest is two, f"{cheapest.name} is the cheapest: propose it"
    assert final.expected and base.expected and final.expected < base.expected, "the final setting saves nothing"
    assert {runs.name for runs in failed} == {*ANSWERS}, "not those settings failed whose failure is explained"
    wide, small = by_name["batch-256"], by_name["batch-32"]
    wide_images, small_images = (middle_steps(runs) * batch for runs, batch in ((wide, 256), (small, 32)))
    assert middle_steps(wide) < middle_steps(two) < middle_steps(small), "larger batches no longer need fewer steps"
    answers = "\n".join(f"* *{asked}* {ANSWERS[asked.partition(':')[0]]}" for asked in cost.questions(every))
    return TEXT.format(
        machine=base.runs[0]["settings"]["machine"],
        type=TYPE,
        price=PRICE,
        start=start,
        start_share=parts(final)[0] / seconds(final),
        step_ms=1000 * step,
        base_s=seconds(base),
        predicted=predicted,
        two_s=seconds(two),
        two_step_ms=1000 * parts(two)[1],
        table=cost.table(every, PRICE),
        wide_steps=middle_steps(two) / middle_steps(wide),
        wide_images=wide_images / (middle_steps(two) * 64),
        small_images=small_images / (middle_steps(two) * 64),
        base_cents=cost.in_unit(base.expected, PRICE),
        final_cents=cost.in_unit(final.expected, PRICE),
        saved=1 - final.expected / base.expected,
        base_range=cost.middle([run["seconds"] for run in base.runs], 1),
        final_range=cost.middle([run["seconds"] for run in final.runs], 1),
        balance=cost.balance(every, PRICE),
        answers=answers,
        test=100 * statistics.mean(run["test"] for run in final.runs),
    )


ANSWERS = {
    "rate-0.1": "With twice the rate the accuracy rises to some 90 % and stays there: the steps are too long for momentum "
    "0.9. They cost as much as any, and stand in the table.",
    "batch-256": "The rule that lets the rate grow with the batch holds up to the critical batch. With another seed the first "
    "steps end in a network that guesses; train.py gives such a run up, and the others pay for it.",
}
"""What the report answers to each question of cost.py."""

TEXT = """\
# Example of a report: two ranks are cheaper, larger batches are not

Made by `python -m docs.capstone.example.make` from the records in `runs/`; every number is theirs.

**Question.** Does it pay to use both cores of a machine, and does a larger batch pay? Closed division. All ran on one
machine ({machine}), which stands for a `{type}` at {price} dollars an hour.

**Prediction**, from the baseline's records alone. A run is {start:.1f} s of starting (Python, PyTorch, drawing the images)
and steps of {step_ms:.1f} ms. Two ranks halve the step and not the start, and the all-reduce of 0.84 MB on one machine is small:
{predicted:.1f} s instead of {base_s:.1f} s. Larger batches need fewer steps, as long as the batch is below the critical one
(lab 12); the images a second stay, so that only fewer *images* would be cheaper. We expected the same images up to 256.

**What was done.** Baseline: one rank, batch 64, rate 0.05. One thing changed at a time: the ranks, then of two ranks the rate, then
the batch, with the rate in proportion and, for 256, a warm-up of 60 steps. Three seeds each, in turns, so that what else the
machine did met all of them. Then the cheapest, two ranks, anew with five other seeds, as `final`.

{table}

![Validation accuracy against cents, for each seed of the baseline and of the final setting.](cost.svg)

**What came.** Two ranks took {two_s:.1f} s (predicted {predicted:.1f} s): a step took {two_step_ms:.1f} ms, not half of
{step_ms:.1f}, for two processes share the machine's memory and wait for each other. A batch of 256 needs {wide_steps:.1f}
times fewer steps than one of 64, but {wide_images:.2f} times as many images: the critical batch lies below it. A batch of 32 needs
{small_images:.2f} times the images, but its steps are too short for the time that a step costs besides.

**Result.** `torchrun --nproc-per-node 2 train.py --name final --seed 10` and so on: {final_cents:.4f} cents instead of
{base_cents:.4f}, {saved:.0%} less. Seconds of the final runs: {final_range}; of the baseline: {base_range} (median and range).
{balance}

**What `cost.py` asks.**

{answers}

**What we do not claim.** Hundredths of a cent: the network is small, and the start alone is
{start_share:.0%} of a final run. The machine was not ours
alone; only what was run in turns can be compared. The mean test accuracy of the final runs is {test:.1f} %, less than the
95 % that ended each run: of many looks the luckiest does. We did not tune momentum, tried no number format and no second
machine, and the baseline got no rate of its own: with one rank all steps are the same, so that two-ranks' search holds for it.
"""


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
