"""Prints the numbers behind lab 12: ranks against their serial twin, large batches over ten seeds, efficiencies.

python -m benchmarks.lab12 [--cards]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, median_and_range, solution
from labkit import launch, result_card

LAB = "12_data_parallel"
EXPLORED = ("fit_ranks", "furthest", "with_pytorch", "large_batch_run", "late_change")
RULES = ("fixed rate", "linear rule", "warm-up")
RANKS = (1, 2, 4, 8, 16)
ROUNDS = 5

Accuracies = dict[tuple[int, str, float], list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = folder(LAB) / "cards" if parser.parse_args().cards else None
    ns = solution(LAB, also=EXPLORED)

    off = serial_twin(ns)
    pull = unequal_pull(ns)
    accuracies = large_batches(ns)
    late_changes(ns)
    critical_batch(ns)
    measured, modelled = efficiencies(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        write_equality_cards(cards, off, pull)
        write_batch_cards(cards, accuracies)
        write_efficiency_cards(cards, measured, modelled)


def serial_twin(ns: dict[str, Any]) -> dict[str, float]:
    """Print and return the largest difference of a weight from the serial twin's, after two epochs of digits."""
    import torch

    print("largest difference of a weight from the serial twin's, 2, 3 and 4 ranks")
    worst = {}
    for dtype in (torch.float64, torch.float32):
        twin = ns["fit_ranks"](0, 1, 48, "plain", dtype)[1]
        found = []
        for ranks in (2, 3, 4):
            ranked = launch(ns["fit_ranks"], ranks, 48 // ranks, "plain", dtype, backend="gloo", timeout_s=120)
            found.append(max(ns["furthest"](weights, twin) for _, weights in ranked))
        worst[str(dtype)] = max(found)
        print(f"  {dtype}: {' '.join(f'{value:.0e}' for value in found)}; the check allows 1e-10 and 1e-4")
    return worst


def unequal_pull(ns: dict[str, Any]) -> float:
    """Print and return how far averaged means end from the serial twin, for batches of 40 and 8."""
    order = ns["shard"](np.arange(len(ns["y_train"])), 0, 1, 0)
    plan = [[order[at : at + 40] for at in range(0, 960, 48)], [order[at + 40 : at + 48] for at in range(0, 960, 48)]]
    together = [[order[at : at + 48] for at in range(0, 960, 48)]]
    twin = launch(ns["with_pytorch"], 1, together, backend="gloo", timeout_s=60)[0]
    averaged = launch(ns["with_pytorch"], 2, plan, backend="gloo", timeout_s=60)[0]
    off = float(ns["furthest"](averaged, twin))
    print(f"ranks with 40 and 8 images, means averaged: {off:.2g} from the serial twin")
    return off


def large_batches(ns: dict[str, Any]) -> Accuracies:
    """Print and return validation accuracies over the seeds, by batch, rule and width of the start."""
    found: Accuracies = {}
    print(f"validation accuracy after 20 epochs, {len(SEEDS)} seeds")
    for start in (1.0, 1.8):
        for batch, rule in [(32, RULES[0]), *((batch, rule) for batch in (256, 1024) for rule in RULES)]:
            runs = [float(ns["large_batch_run"](seed, batch, rule, start)) for seed in SEEDS]
            found[batch, rule, start] = runs
            print(f"  start {start}, batch {batch:4}, {rule:11}: {median_and_range(runs)}", flush=True)
    return found


def late_changes(ns: dict[str, Any]) -> None:
    """Print accuracy, training loss and steps when rate or batch change after 12 of 20 epochs."""
    for change in ("no change", "rate over 8", "batch times 8"):
        accuracy, loss, steps = zip(*(ns["late_change"](seed, change) for seed in SEEDS), strict=True)
        print(f"  {change:13}: {median_and_range(accuracy)}, loss {median_and_range(loss, 4)}, {steps[0]} steps")


def critical_batch(ns: dict[str, Any]) -> None:
    """Print the steps to 95 % by batch, at the best of some rates, and the fit of steps = S (1 + B / batch)."""
    batches, fewest = (16, 32, 64, 128, 256, 512), []
    for batch in batches:
        by_rate = {
            rate: float(np.median([ns["steps_to"](batch, rate, seed) for seed in SEEDS]))
            for rate in (0.1, 0.2, 0.4, 0.8)
        }
        rate = min((rate for rate in by_rate if by_rate[rate] > 0), key=by_rate.__getitem__)
        fewest.append(by_rate[rate])
        print(f"  batch {batch:4}: {fewest[-1]:4.0f} steps to 95 % at rate {rate:g}", flush=True)
    terms = np.stack([np.ones(len(batches)), 1 / np.array(batches)], axis=1) / np.array(fewest)[:, None]
    least, both = np.linalg.lstsq(terms, np.ones(len(batches)), rcond=None)[0]
    print(f"  at least {least:.0f} steps, critical batch {both / least:.0f} images")


def efficiencies(ns: dict[str, Any]) -> tuple[list[float], dict[str, list[float]]]:
    """Print and return what two ranks reach here, and what 16 ranks would by the model; a round after the other."""
    measured: list[float] = []
    modelled: dict[str, list[float]] = {"weak, 1 MiB": [], "weak, one bucket": [], "strong, 1 MiB": []}
    for _ in range(ROUNDS):
        one, two = (
            np.median(launch(ns["step_seconds"], ranks, 512 // ranks, backend="gloo", timeout_s=60)[0])
            for ranks in (1, 2)
        )
        measured.append(ns["efficiency"]([1, 2], [512, 512], [one, two])[1])
        for title, share in model_round(ns).items():
            modelled[title].append(share)
    print(f"strong scaling measured here, 2 ranks: efficiency {median_and_range(measured, 2)}")
    for title, shares in modelled.items():
        print(f"{title}, 16 ranks, modelled: efficiency {median_and_range(shares, 2)}")
    return measured, modelled


def model_round(ns: dict[str, Any]) -> dict[str, float]:
    """Return the modelled efficiencies at 16 ranks, from one measurement of computing, alpha and beta."""
    sizes = [p.nbytes for p in ns["wide_network"]().parameters()]
    held = [1 << k for k in range(10, 24, 2)]
    took = launch(ns["sum_seconds"], 2, held, backend="gloo", timeout_s=60)[0]
    alpha, beta = ns["fit_alpha_beta"](held, took, 2)
    one = {n: min(ns["step_seconds"](0, 1, n, repeat=15)) for n in (32, 512)}

    def share(limit: int, each: Sequence[int]) -> float:
        seconds = [
            ns["modelled_step"](one[n], sizes, limit, ranks, alpha, beta)
            for n, ranks in zip(each, (1, RANKS[-1]), strict=True)
        ]
        images = [each[0], each[1] * RANKS[-1]]
        return float(ns["efficiency"]([1, RANKS[-1]], images, seconds)[1])

    print(f"  alpha {alpha * 1e6:.0f} µs, 1 / beta {1e-9 / beta:.2f} GB/s, 512 images {one[512] * 1e3:.1f} ms")
    return {
        "weak, 1 MiB": share(2**20, (512, 512)),
        "weak, one bucket": share(2**30, (512, 512)),
        "strong, 1 MiB": share(2**20, (512, 32)),
    }


def write_equality_cards(cards: Path, off: dict[str, float], pull: float) -> None:
    result_card(
        "ranks end with the serial twin's weights (largest difference in float64, 2 to 4 ranks, 46 steps)",
        off["torch.float64"],
        lab=LAB,
        note=f"In float32 {off['torch.float32']:.0e}: only the order of sums differs.",
        path=cards / "serial_twin.json",
    )
    result_card(
        "averaging the means of ranks with 40 and 8 images trains another model (largest difference of a weight)",
        pull,
        lab=LAB,
        note="Sums divided by the images of all ranks stay within rounding of the serial twin.",
        path=cards / "averaged_means.json",
    )


def write_batch_cards(cards: Path, accuracies: Accuracies) -> None:
    small, large = accuracies[32, RULES[0], 1.0], accuracies[1024, RULES[0], 1.0]
    lost = np.subtract(small, large)
    result_card(
        "a batch multiplied by the devices slows convergence (accuracy lost at batch 1024 against 32, same epochs)",
        float(lost.mean()),
        n=len(lost),
        spread=float(lost.std()),
        source="A: too big batches deteriorate the convergence speed",
        lab=LAB,
        note="At an unchanged rate, on digits, after 20 epochs. The linear rule makes up for most of it at batch 256. "
        "Validation images.",
        path=cards / "large_batch.json",
    )
    gained = np.subtract(accuracies[256, "warm-up", 1.8], accuracies[256, "linear rule", 1.8])
    result_card(
        "a large batch needs a warm-up (accuracy gained at batch 256 by a warm-up, linear rule, steep start)",
        float(np.median(gained)),
        n=len(gained),
        spread=float(gained.std()),
        source="B: limited by batch size; adaptive minibatch size",
        lab=LAB,
        note="Median; the start is 1.8 times as wide as He et al. advise. From He's start no warm-up is needed here. "
        "Validation images.",
        path=cards / "warm_up.json",
    )


def write_efficiency_cards(cards: Path, measured: list[float], modelled: dict[str, list[float]]) -> None:
    weak, strong = modelled["weak, 1 MiB"], modelled["strong, 1 MiB"]
    result_card(
        "data-parallel training scales to 16 devices (weak scaling, efficiency; a model)",
        float(np.median(weak)),
        n=len(weak),
        spread=float(np.std(weak)),
        seed_value=0.91,
        source="C: 91 % efficiency at 16 GPUs of one machine",
        lab=LAB,
        note="Median. Computing on one core and gloo's alpha and beta are measured, 16 ranks are modelled; "
        f"strong scaling of the same model reaches {np.median(strong):.2f}.",
        kind="modelled",
        path=cards / "weak_scaling.json",
    )
    result_card(
        "two ranks on this machine (strong scaling, efficiency, measured)",
        float(np.median(measured)),
        n=len(measured),
        spread=float(np.std(measured)),
        lab=LAB,
        note="Median. The ranks share two cores with whatever else runs there.",
        path=cards / "two_ranks.json",
    )


if __name__ == "__main__":
    main()
