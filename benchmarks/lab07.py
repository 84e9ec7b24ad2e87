"""Prints the numbers behind lab 07: what each ingredient is for, accuracy in 16 bits, bytes moved; writes its cards.

python -m benchmarks.lab07 [--cards]
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("MPLBACKEND", "agg")

import numpy as np
import torch

from benchmarks.common import SEEDS, folder, mean_and_spread, median_and_range, solution, threshold
from labkit import compare, result_card

LAB = "07_mixed_precision"
MODES = ("float32", "bfloat16, autocast", "float16, autocast", "all bfloat16")
COLUMNS = ("score", "gradients lost", "updates lost", "skipped")

Table = dict[str, dict[str, list[float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = parser.parse_args().cards
    ns = solution(LAB, also=["narrow_statistics", "read_digits", "step_bytes"])
    print(f"\nautoencoder, {len(SEEDS)} seeds: mean (sd); a score that is no number counts as nan")
    runs = ingredients(ns)
    accuracies = {(rate, batch): readers(ns, rate, batch) for rate, batch in ((0.05, 32), (0.001, 16))}
    threshold(
        "bfloat16 step: distance from float32's end, as a share of the way",
        lambda seed: step_distance(ns, seed),
        0.05,
        at_least=False,
    )
    moved = bytes_moved(ns)
    speed = product_speed()
    print(f"product of 768 x 768, one core, float32 over bfloat16: {speed[1]:.2f} ({speed[0]:.2f} to {speed[2]:.2f})")
    if cards:
        write_cards(runs, accuracies[0.05, 32], moved, speed)


def ingredients(ns: dict[str, Any]) -> Table:
    """Train the autoencoder with all parts and with each part taken away; print and return the table."""
    half, brain, scaler = torch.float16, torch.bfloat16, ns["DynamicLossScaler"]
    rows: dict[str, dict[str, Any]] = {
        "float32": {"dtype": torch.float32},
        "mixed float16": {"dtype": half, "scaler": scaler},
        "mixed bfloat16": {"dtype": brain},
        "no loss scaling": {"dtype": half},
        "no master weights": {"dtype": half, "scaler": scaler, "optimizer": ns["NoMaster"]},
        "no step skipped": {"dtype": half, "scaler": scaler, "skip": False},
        "statistics in float16": {"dtype": half, "scaler": scaler, "statistics": ns["narrow_statistics"]},
        "all bfloat16": {"dtype": brain, "optimizer": ns["NoMaster"], "statistics": ns["narrow_statistics"]},
    }
    table: Table = {}
    for name, options in rows.items():
        found = [ns["train"](**{**options, "scaler": fresh(options)}, seed=seed) for seed in SEEDS]
        table[name] = {column: [float(run[column]) for run in found] for column in COLUMNS}
        print(f"  {name:22}" + "  ".join(f"{column} {mean_and_spread(table[name][column])}" for column in COLUMNS))
    for name in ("mixed float16", "mixed bfloat16"):
        away = np.subtract(table[name]["score"], table["float32"]["score"])
        print(f"  {name} minus float32, seed by seed: {mean_and_spread(list(away), 4)}")
    return table


def fresh(options: dict[str, Any]) -> Any:
    return options["scaler"]() if "scaler" in options else None


def readers(ns: dict[str, Any], rate: float, batch: int) -> dict[str, list[float]]:
    """Print and return the validation accuracies of the digit reader in each mode, one a seed."""
    found = {mode: [float(ns["read_digits"](mode, seed, rate, batch)) for seed in SEEDS] for mode in MODES}
    print(f"digit reader, rate {rate}, batches of {batch}, validation accuracy")
    for mode, values in found.items():
        away = np.subtract(values, found["float32"])
        print(f"  {mode:19} {median_and_range(values)}; minus float32's: {mean_and_spread(list(away), 4)}")
    return found


def step_distance(ns: dict[str, Any], seed: int) -> float:
    """Return how far two bfloat16 steps end from two float32 steps, over the length of the way, as the check does."""
    draw = torch.Generator().manual_seed(seed)
    images, labels = torch.rand(32, 64, generator=draw), torch.randint(10, (32,), generator=draw)
    ends = []
    for dtype, steps in ((torch.float32, 0), (torch.float32, 2), (torch.bfloat16, 2)):
        net, optimizer = ns["new_reader"](seed, lr=0.5, momentum=0.0)
        for _ in range(steps):
            ns["train_step"](net, optimizer, ns["new_scaler"](dtype), images, labels, dtype, 100.0)
        ends.append(torch.cat([p.detach().flatten() for p in net.parameters()]))
    start, exact, found = ends
    return float((found - exact).norm() / (exact - start).norm())


def bytes_moved(ns: dict[str, Any]) -> dict[int, float]:
    """Print and return the bytes that a mixed step moves, over float32's, for some batch sizes."""
    ratios = {}
    for images in (64, 512, 4096):
        totals = [
            np.sum(list(ns["step_bytes"](dtype, images).values()), axis=0) for dtype in (torch.float32, torch.float16)
        ]
        held, ratios[images] = (float(part) for part in totals[1] / totals[0])
        print(f"mixed over float32, batch of {images}: bytes held {held:.3f}, bytes moved {ratios[images]:.3f}")
    return ratios


def product_speed() -> tuple[float, float, float]:
    """Return quartiles of the time of a float32 product over a bfloat16 one, measured in turn on one core."""
    torch.set_num_threads(1)
    left, right = torch.rand(2, 768, 768)
    left_16, right_16 = left.bfloat16(), right.bfloat16()
    timings = compare({"float32": lambda: left @ right, "bfloat16": lambda: left_16 @ right_16}, repeat=30)
    return timings.ratio("float32", "bfloat16")


def card(name: str, claim: str, values: list[float], source: str, note: str, **more: Any) -> None:
    """Write a card of the mean of the values and, if there are several, their standard deviation."""
    spread = {"spread": float(np.std(values))} if len(values) > 1 else {}
    options: dict[str, Any] = {"n": len(values), **spread, **more}
    path = folder(LAB) / "cards" / f"{name}.json"
    result_card(claim, float(np.mean(values)), source=source, note=note, lab=LAB, path=path, **options)


def write_accuracy_card(accuracies: dict[str, list[float]]) -> None:
    away = [
        np.subtract(accuracies[mode], accuracies["float32"]) for mode in ("float16, autocast", "bfloat16, autocast")
    ]
    card(
        "same_accuracy",
        "16 bits read digits as well as 32 (float16 autocast minus float32, accuracy, seed by seed)",
        [float(value) for value in away[0]],
        "D: 16 bits instead of 32 have little effect on the model's quality",
        f"With float32 weights. bfloat16 autocast: {np.mean(away[1]):.4f}. With bfloat16 weights the rate decides. "
        "Validation images.",
        seed_value="little effect",
    )


def write_cards(
    runs: Table,
    accuracies: dict[str, list[float]],
    moved: dict[int, float],
    speed: tuple[float, float, float],
) -> None:
    (folder(LAB) / "cards").mkdir(exist_ok=True)
    master = "A: compute gradients in FP16 but keep the weights in FP32"
    narrow, full = (np.mean(runs[name]["score"]) for name in ("no master weights", "float32"))
    card(
        "updates_lost",
        "float16 weights without a float32 master copy lose updates (share of updates)",
        runs["no master weights"]["updates lost"],
        master,
        f"The network still learns, to a score of {narrow:.2f} instead of {full:.2f}. The share depends on the rate.",
    )
    card(
        "gradients_lost",
        "without loss scaling gradients underflow in float16 (share of gradients that become zero)",
        runs["no loss scaling"]["gradients lost"],
        master,
        "A loss that is a mean over 2^24 pixels. With the usual loss of a classifier nearly none would be lost.",
    )
    write_accuracy_card(accuracies)
    card(
        "bytes_moved",
        "a mixed-precision step moves fewer bytes than a float32 step (share of float32's bytes, 64 images)",
        [moved[64]],
        "D: 16 bits instead of 32 halve the data to transfer",
        "The tensors' bytes are counted, no transfer is measured. Master weights and velocity stay float32. "
        f"With 4096 images activations dominate: {moved[4096]:.2f}.",
        seed_value=0.5,
        kind="counted",
    )
    card(
        "product_speed",
        "16-bit matrix products are faster (time of a 768 x 768 product on one core, float32 over bfloat16)",
        [speed[1]],
        "A: Volta is 12x faster thanks to TensorCores",
        "A CPU with bfloat16 instructions, no GPU; the spread is half the distance between the quartiles.",
        unit="x",
        n=30,
        spread=(speed[2] - speed[0]) / 2,
        seed_value=12,
    )


if __name__ == "__main__":
    main()
