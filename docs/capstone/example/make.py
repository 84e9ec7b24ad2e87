"""Make the example of a capstone's report: python -m docs.capstone.example.make [--run] [--check].

--run trains first, some ten minutes on two idle cores; otherwise the report is written from the runs that lie here.
"""

from __future__ import annotations

import argparse
import io
import statistics
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
    """Return the median seconds before the first step, and of a step; looks at validation images are part of it."""
    starts, steps = [], []
    for run in runs.runs:
        first, last = run["curve"][0], run["curve"][-1]
        step = (last["seconds"] - first["seconds"]) / (last["step"] - first["step"])
        steps.append(step)
        starts.append(first["seconds"] - first["step"] * step)
    return statistics.median(starts), statistics.median(steps)


def seconds(runs: cost.Runs) -> float:
    """Return the median seconds of the runs that met the target."""
    return statistics.median(float(run["seconds"]) for run in runs.runs if run["met"])


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
    return (
        (HERE / "report.in.md")
        .read_text(encoding="utf-8")
        .format(
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
    )


ANSWERS = {
    "rate-0.1": "With twice the rate the accuracy rises to some 90 % and stays there: the steps are too long for "
    "momentum 0.9. They cost as much as any, and stand in the table.",
    "batch-256": "The rule that lets the rate grow with the batch holds up to the critical batch. Beyond it the first "
    "steps may end in a network that guesses; train.py gives such a run up, and the others pay for it.",
}
"""What the report answers to each question of cost.py."""


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


if __name__ == "__main__":
    main()
