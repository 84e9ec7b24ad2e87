"""Prints the numbers behind lab 14: accuracies with and without memory, bytes, fill-in; writes its cards.

python -m benchmarks.lab14 [--cards]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, mean_and_spread, median_and_range, solution
from labkit import result_card

LAB = "14_gradient_compression"
EXPLORED = ("train", "plain", "largest", "levels_of", "Nearest", "terms")
SHARE = 0.001
WORKERS = 64

Runs = dict[str, list[tuple[float, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = folder(LAB) / "cards" if parser.parse_args().cards else None
    ns = solution(LAB, also=EXPLORED)
    runs = trainings(ns)
    filled = fill_in(ns)
    rates = bandwidths(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        write_sparse(cards, runs)
        write_coarse(cards, runs)
        write_sums(cards, filled, rates)


def schemes(ns: dict[str, Any]) -> dict[str, Any]:
    """Return a function of the seed for each compressor: its pair of functions, and whether there is a memory."""
    levels = ns["levels_of"]

    def chance(seed: int) -> Any:
        return np.random.default_rng(1000 + seed)

    return {
        "dense": lambda seed: (ns["plain"], ns["from_plain"], False),
        "top 0.1 %": lambda seed: (*ns["largest"](SHARE), False),
        "top 0.1 %, feedback": lambda seed: (*ns["largest"](SHARE), True),
        "one bit": lambda seed: (ns["one_bit"], ns["from_one_bit"], False),
        "one bit, feedback": lambda seed: (ns["one_bit"], ns["from_one_bit"], True),
        "TernGrad": lambda seed: (*levels(1, "max", chance(seed)), False),
        "TernGrad, nearest": lambda seed: (*levels(1, "max", ns["Nearest"]()), False),
    }


def trainings(ns: dict[str, Any]) -> Runs:
    """Print and return accuracy and bytes a step of each compressor, for every seed."""
    found: Runs = {}
    print(f"validation accuracy and bytes a worker sends at each step, {len(SEEDS)} seeds")
    for name, scheme in schemes(ns).items():
        found[name] = [ns["train"](*scheme(seed), seed=seed) for seed in SEEDS]
        sent = np.mean([bytes_sent for _, bytes_sent in found[name]])
        print(f"  {name:20} {median_and_range(accuracies(found, name))}, {sent:,.0f} bytes", flush=True)
    lost = np.subtract(accuracies(found, "dense"), accuracies(found, "top 0.1 %, feedback"))
    spread = np.std(accuracies(found, "dense"))
    shown = mean_and_spread(lost.tolist())
    print(f"  lost by the top 0.1 % with feedback, same seeds: {shown}; dense spreads by {spread:.3f}")
    return found


def accuracies(runs: Runs, name: str) -> list[float]:
    """Return the accuracies of a compressor."""
    return [accuracy for accuracy, _ in runs[name]]


def fill_in(ns: dict[str, Any]) -> list[float]:
    """Print and return the share of a sum of 64 workers' top 1 % that is not zero, for every seed."""
    found = []
    for seed in SEEDS:
        draw, weights = np.random.default_rng(seed), ns["start"](seed)
        total = np.zeros(ns["SIZE"], np.float32)
        for _ in range(WORKERS):
            batch = draw.integers(len(ns["y_train"]), size=16)
            gradient = ns["gradient"](weights, ns["x_train"][batch], ns["y_train"][batch])
            total += ns["top_k"](gradient, round(0.01 * ns["SIZE"]))
        found.append(float(np.count_nonzero(total) / ns["SIZE"]))
    print(f"not zero in the sum of {WORKERS} workers' top 1 %: {median_and_range(found)}; random places 0.474")
    return found


def bandwidths(ns: dict[str, Any]) -> dict[int, float]:
    """Print and return, in GB/s, the bandwidth at which steps of 0.1 s become 7 times as fast, by workers."""
    found = {P: 1e-9 / ns["beta_for"](P, 0.1, 50e-6) for P in (8, 32, 128)}
    for P, rate in found.items():
        print(f"{P:3} workers, 0.1 s of computing a step: 7 times as fast at {rate:.2f} GB/s")
    return found


def write_sparse(cards: Path, runs: Runs) -> None:
    """Write the cards of the largest thousandth."""
    memory = accuracies(runs, "top 0.1 %, feedback")
    lost = np.subtract(accuracies(runs, "dense"), memory)
    ratio = runs["dense"][0][1] / runs["top 0.1 %, feedback"][0][1]
    result_card(
        "accuracy lost by sending the top 0.1 % of a gradient with error feedback",
        float(lost.mean()),
        n=len(lost),
        spread=float(lost.std()),
        source="B, slide 25: accumulate the remainder locally",
        lab=LAB,
        note=f"{ratio:.0f} times fewer bytes, indices counted; dense runs spread by "
        f"{np.std(accuracies(runs, 'dense')):.3f}. Four workers, digits, 200 steps. Validation images.",
        path=cards / "top_with_feedback.json",
    )
    gained = np.subtract(memory, accuracies(runs, "top 0.1 %"))
    result_card(
        "accuracy gained by error feedback with the top 0.1 % of a gradient",
        float(gained.mean()),
        n=len(gained),
        spread=float(gained.std()),
        source="B, slide 24: accumulate omitted gradients locally",
        lab=LAB,
        note="Four workers, digits, 200 steps; B names neither a task nor an accuracy. Validation images.",
        path=cards / "feedback.json",
    )


def write_coarse(cards: Path, runs: Runs) -> None:
    """Write the cards of one bit, and of rounding by chance."""
    gained = np.subtract(accuracies(runs, "one bit, feedback"), accuracies(runs, "one bit"))
    lost = np.mean(np.subtract(accuracies(runs, "dense"), accuracies(runs, "one bit, feedback")))
    result_card(
        "accuracy gained by error feedback with one bit an entry",
        float(gained.mean()),
        n=len(gained),
        spread=float(gained.std()),
        source="B, slide 24: 1-bit SGD (Seide et al. 2014)",
        lab=LAB,
        note=f"With it {lost:.3f} below dense training. "
        "Most of the gain: zeros count as positive, and are sent as too large. Validation images.",
        path=cards / "one_bit.json",
    )
    gained = np.subtract(accuracies(runs, "TernGrad"), accuracies(runs, "TernGrad, nearest"))
    result_card(
        "accuracy gained by rounding to three levels by chance, not to the nearest",
        float(gained.mean()),
        n=len(gained),
        spread=float(gained.std()),
        source="B, slide 24: the main trick is stochastic rounding",
        lab=LAB,
        note="No memory; B cites Ternary Weight Networks for TernGrad, which is another paper. Validation images.",
        path=cards / "by_chance.json",
    )


def write_sums(cards: Path, filled: list[float], rates: dict[int, float]) -> None:
    """Write the cards of the sparse sum, and of the slide's seven times."""
    result_card(
        "share of a sum of 64 workers' top 1 % that is not zero",
        float(np.mean(filled)),
        n=len(filled),
        spread=float(np.std(filled)),
        source="B, slide 26: sparse all-reduce (SparCML)",
        lab=LAB,
        kind="counted",
        note="At random places it would be 0.474: workers agree on what is large.",
        path=cards / "fill_in.json",
    )
    result_card(
        "bandwidth at which a sparse sum makes training 7 times as fast, 32 workers",
        rates[32],
        unit="GB/s",
        source="B, slide 26: 2 weeks to 2 days, 60 million parameters",
        lab=LAB,
        kind="modelled",
        note="0.1 s of computing a step, top 0.1 %, alpha 50 µs, against a dense float32 ring; "
        f"{rates[8]:.2f} GB/s with 8 workers, {rates[128]:.2f} with 128. The slide names neither workers nor network.",
        path=cards / "two_weeks.json",
    )


if __name__ == "__main__":
    main()
