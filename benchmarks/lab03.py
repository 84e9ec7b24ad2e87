"""Prints the numbers behind lab 03: what each format loses over ten seeds, speed, bytes, energy; writes its cards.

python -m benchmarks.lab03 [--cards]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, mean_and_spread, median_and_range, solution
from labkit import load, result_card
from labkit._timing import Comparison

LAB = folder("03_number_formats")
EXPLORED = ("all_values", "lost", "product_times", "copy_times", "grid_of", "train_network", "outputs")
Found = dict[str, list[tuple[float, float]]]
SHAPES = ((1, 512, 512), (64, 512, 512), (512, 512, 512))
ROUNDS, TURNS = 7, 15
"""Each round takes the fastest of so many turns: whoever else uses the machine only adds time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = LAB / "cards" if parser.parse_args().cards else None
    ns = solution(LAB.name, also=[*EXPLORED, "by_columns", "outlier_unit"])
    found = changes(ns)
    check_thresholds(found)
    outliers(ns)
    speeds = {shape: fastest(partial(ns["product_times"], *shape, repeat=TURNS)) for shape in SHAPES}
    copies = fastest(partial(ns["copy_times"], repeat=TURNS))
    for shape in SHAPES:
        print_ratios(str(shape), speeds[shape])
    print_ratios("a copy", copies)
    energy = {n: energy_ratio(ns, n) for n in (1, 1024)}
    print(f"energy of float32 over int8, n x 1024 x 1024, modelled: {energy}")
    if cards:
        cards.mkdir(exist_ok=True)
        speed_cards(cards, speeds, copies)
        loss_cards(cards, ns, found, energy[1024])


def changes(ns: dict[str, Any]) -> Found:
    """Return by format and seed the change in test accuracy, in points: of the network, and with an outlier unit."""
    found: Found = {name: [] for name in ns["WAYS"]}
    errors: dict[str, list[float]] = {name: [] for name in ns["WAYS"]}
    split = load("digits").test
    for seed in SEEDS:
        run = ns["judged"](ns["train_network"](seed), split)
        base = run["float32"][0]
        for name, (plain, twin, error) in run.items():
            found[name].append((100 * (plain - base), 100 * (twin - base)))
            errors[name].append(error)
    print("change in test accuracy, in points, over ten seeds; with an outlier unit; relative error of the weights")
    for name, pairs in found.items():
        plain, twin = zip(*pairs, strict=True)
        print(
            f"  {name:20} {mean_and_spread(plain, 2):>15} ({min(plain):+.1f} to {max(plain):+.1f}) "
            f"{mean_and_spread(twin, 2):>15} ({min(twin):+.1f} to {max(twin):+.1f})  {np.mean(errors[name]):.4f}"
        )
    return found


def check_thresholds(found: Found) -> None:
    """Fail unless what the lab's text says of its table holds for every seed."""
    bounds = {
        "16 bits, and 8 with one scale, keep accuracy": min(
            min(plain for plain, _ in found[name]) for name in ("FP16", "bf16", "int8, one scale", "int8, by column")
        )
        >= -1.0,
        "8-bit floats cost little": min(plain for name in ("E5M2", "E4M3") for plain, _ in found[name]) >= -2.5,
        "bf16 does not notice the outlier": found["bf16"] == [(plain, plain) for plain, _ in found["bf16"]],
        "one scale loses the layer": max(twin for _, twin in found["int8, one scale"]) <= -40,
        "a scale for each column saves it": min(twin for _, twin in found["int8, by column"]) >= -6,
        "at 4 bits as well": min(twin for _, twin in found["int4, by column"]) >= -8,
    }
    for claim, holds in bounds.items():
        print(f"{claim}: {'holds' if holds else 'FAILS'}")
    if not all(bounds.values()):
        raise SystemExit("the lab's text says what not every seed shows")


def outliers(ns: dict[str, Any]) -> None:
    """Print how the others' error grows where one column of 64 is 100 times as large."""
    ratios = []
    for seed in SEEDS:
        matrix = np.random.default_rng(seed).normal(size=(256, 64))
        matrix[:, 7] *= 100
        back = [ns["dequantize"](*ns["quantize"](matrix, 8, axis)) for axis in (None, 0)]
        one, own = (ns["lost"](np.delete(matrix, 7, 1), np.delete(b, 7, 1)) for b in back)
        ratios.append(one / own)
    print(f"one scale over a scale for each column, error of the others: {median_and_range(ratios, 1)}")


def fastest(measure: Callable[[], Comparison]) -> dict[str, list[float]]:
    """Return how many times as fast as float32 each way is, a number a round: its fastest turn against float32's."""
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        best = {name: min(timing.samples_s) for name, timing in measure().timings.items()}
        for name in best.keys() - {"float32"}:
            found.setdefault(name, []).append(best["float32"] / best[name])
    return found


def print_ratios(what: str, ratios: dict[str, list[float]]) -> None:
    for name, values in ratios.items():
        print(f"{what}, {name}: times as fast as float32, {median_and_range(values, 2)}")


def energy_ratio(ns: dict[str, Any], n: int) -> float:
    costs = [ns["matmul_cost"](n, 1024, 1024, ns["NUMBERS"][name])[1] for name in ("float32", "int8")]
    return float(costs[0] / costs[1])


def timed(ratios: list[float]) -> dict[str, Any]:
    return {
        "value": float(np.median(ratios)),
        "spread": float(np.std(ratios)),
        "n": ROUNDS,
        "unit": "x",
        "lab": LAB.name,
    }


def speed_cards(cards: Path, speeds: dict[Any, dict[str, list[float]]], copies: dict[str, list[float]]) -> None:
    one, many = (np.median(speeds[shape]["int8"]) for shape in SHAPES[:2])
    result_card(
        "8-bit integers multiply faster than float32 (512 x 512 x 512, one core, PyTorch)",
        **timed(speeds[SHAPES[2]]["int8"]),
        seed_value=3,
        source="D: three times on a CPU by fixed-point arithmetic (Vanhoucke 2011)",
        note="Registers had 128 bits in 2011; this CPU has 512, and instructions that add four products of bytes "
        f"at once. It depends on the size: {one:.1f}x for one row, {many:.1f}x for 64. "
        f"A round is the fastest of {TURNS} turns.",
        path=cards / "int8_speed.json",
    )
    result_card(
        "bf16 halves the traffic (time to copy 16,777,216 numbers, float32 over bf16)",
        **timed(copies["bfloat16"]),
        seed_value=2,
        source="D: bfloat16 halves the data that is transferred",
        note="Bytes are halved exactly; the time follows where memory is what a copy waits for. "
        f"A round is the fastest of {TURNS} turns.",
        path=cards / "bf16_traffic.json",
    )


def loss_cards(cards: Path, ns: dict[str, Any], found: Found, energy: float) -> None:
    finite = int(np.isfinite(ns["all_values"]("FP16")).sum())
    result_card(
        "codes of FP16 that are finite numbers",
        finite,
        seed_value=2**16,
        source="A: 65536 points are exactly representable in FP16",
        lab=LAB.name,
        note=f"Counted: {2**16 - finite:,} codes are infinities and NaN, and 0 has two, with and without a sign.",
        kind="counted",
        path=cards / "fp16_codes.json",
    )
    result_card(
        "bf16 weights cost hardly any accuracy (change in test accuracy of a trained network)",
        **mean_of([plain for plain, _ in found["bf16"]]),
        seed_value="very little",
        source="D: 16 bits instead of 32 affect a model's performance very little",
        note="Ten networks of three layers; only weights are rounded, after training, and 360 test images "
        "show no change below 0.3 points.",
        path=cards / "bf16_accuracy.json",
    )
    narrow_cards(cards, found)
    result_card(
        "energy of a float32 product over that of an int8 product, 1024 x 1024 x 1024 (modelled)",
        energy,
        unit="x",
        seed_value=18.5,
        source="Horowitz 2014: an 8-bit multiplication against a float32's",
        lab=LAB.name,
        note="Modelled from his table, not measured: additions and bytes from DRAM, four times fewer, "
        "shrink less than multiplications do.",
        kind="modelled",
        path=cards / "energy.json",
    )


def narrow_cards(cards: Path, found: Found) -> None:
    one = np.mean([twin for _, twin in found["int8, one scale"]])
    result_card(
        "a scale for each column saves int8 weights from an outlier (change in test accuracy)",
        **mean_of([twin for _, twin in found["int8, by column"]]),
        note=f"With one scale for each matrix {one:+.0f} points. One unit of the first layer is 256 times as large, "
        "and divided by as much afterwards, so that in float32 nothing changes.",
        path=cards / "outlier.json",
    )
    result_card(
        "4.25 bits a weight suffice (E2M1 in MX blocks of 32; change in test accuracy)",
        **mean_of([plain for plain, _ in found["E2M1 in MX blocks"]]),
        note="E2M1 without a shared exponent: "
        f"{np.mean([plain for plain, _ in found['E2M1 alone']]):+.0f} points. Biases stay float32.",
        path=cards / "mx_blocks.json",
    )


def mean_of(values: list[float]) -> dict[str, Any]:
    about = {"unit": "points", "lab": LAB.name}
    return {"value": float(np.mean(values)), "spread": float(np.std(values)), "n": len(values), **about}


if __name__ == "__main__":
    main()
