"""Prints the numbers behind lab 04: counts, tolerances over ten seeds, measured roofs, the crossover; writes its cards.

python -m benchmarks.lab04 [--cards]

On a machine with a GPU the crossover is measured there; elsewhere it is modelled from the V100's data sheet.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.common import SEEDS, folder, mean_and_spread, median_and_range, solution, threshold

# isort: split
import numpy as np
import torch

from labkit import bench, compare, count, device, load, result_card

LAB = "04_gpu_training"
WIDTHS = (32, 64, 128, 256, 512, 1024, 2048)
SHEET = "V100, float32"
TPU_CELLS, TPU_BATCH = 256, 200  # Jouppi et al. 2017: the array, and the batch of their network MLP0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = folder(LAB) / "cards" if parser.parse_args().cards else None
    ns = solution(LAB)
    torch.set_num_threads(1)

    digits = load("digits")
    data = torch.tensor(digits.train.x)[:, None], torch.tensor(digits.train.y)
    test = torch.tensor(digits.test.x)[:, None], torch.tensor(digits.test.y)
    found = [accuracy(ns, data, test, seed) for seed in SEEDS]
    print(f"Task 6, test accuracy after 20 epochs (shown, not graded): {median_and_range(found)}")
    cache_table(ns)
    threshold("Task 8, relative difference of losses, slow and fast", lambda s: difference(ns, s), 2e-3, at_least=False)
    counts(ns)
    later_steps(ns, data)
    roofs = [ns["peaks"]() for _ in SEEDS]
    ridges = [peak / bandwidth for peak, bandwidth in roofs]
    print(f"this core: {mean_and_spread([peak / 1e9 for peak, _ in roofs], 1)} GFLOP/s,", end=" ")
    print(f"{mean_and_spread([width / 1e9 for _, width in roofs], 1)} GB/s, ridge {mean_and_spread(ridges, 1)}")
    slow = slow_over_fast(ns, data)
    print(f"slow_training over fast_training, seconds: {slow[1]:.2f} ({slow[0]:.2f} to {slow[2]:.2f})")
    table = crossover(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        write_speedup_card(cards, table)
        write_roof_cards(cards, ns, ridges, [width for _, width in roofs])
        write_counted_cards(cards, ns, slow)


def accuracy(ns: dict[str, Any], data: Any, test: Any, seed: int) -> float:
    model, optimizer = ns["make_training"](seed, "cpu")
    for _ in range(20):
        batches = torch.tensor_split(torch.randperm(len(data[0])), tuple(range(32, len(data[0]), 32)))
        ns["train_epoch"](model, optimizer, [(data[0][i], data[1][i]) for i in batches], "cpu")
    with torch.no_grad():
        return float((model(test[0]).argmax(1) == test[1]).float().mean())


def cache_table(ns: dict[str, Any]) -> None:
    """Print the lines that Task 4's checks allow beside what blocks and the textbook's order fetch."""
    print("Task 4, cache lines: n, block, lines of the cache: in blocks, plain, allowed")
    for n, block, lines, allowed in ((24, 8, 64, 1296), (22, 8, 90, 1944), (24, 4, 16, 2592)):
        blocked, plain = (ns["misses"](ns["blocked_order"](n, size), n, lines, 4) for size in (block, n))
        print(f"  {n}, {block}, {lines}: {blocked}, {plain}, {allowed}")
    print("  above the text's bound, where a block or a line is not whole: n, block, lines: fetched, bound")
    for n, block, lines in ((24, 16, 240), (36, 32, 864), (10, 4, 24)):
        fetched = ns["misses"](ns["blocked_order"](n, block), n, lines, 4)
        print(f"  {n}, {block}, {lines}: {fetched}, {3 * n**3 / (block * 4):g}")


def later_steps(ns: dict[str, Any], data: Any) -> None:
    """Print the launches of a step of Task 6 once the optimiser has its memory, as the open task's cell counts them."""
    batch = [(data[0][:32], data[1][:32])]
    for foreach in (False, True):
        model, _ = ns["make_training"](0, count.STAND_IN)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=foreach)
        epochs = [
            count.operations(ns["train_epoch"], model, optimizer, batch * n, count.STAND_IN)["launches"]
            for n in (1, 1, 2)
        ]
        print(f"Open task, foreach={foreach}: {epochs[2] - epochs[1]} launches a step")


def small(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return 96 images and labels, made like those of Task 8's check."""
    draw = np.random.default_rng(seed)
    images = torch.tensor(draw.random((96, 1, 8, 8)), dtype=torch.float32)
    labels = torch.tensor(draw.integers(0, 10, 96))
    images[torch.arange(96), 0, labels % 8, labels // 8] += 1.0
    return images, labels


def difference(ns: dict[str, Any], seed: int) -> float:
    """Return the largest relative difference of three epochs' losses between the two loops."""
    runs = [
        ns[name](*ns["make_training"](seed, "cpu"), *small(seed), "cpu", epochs=3, batch_size=16)["loss"]
        for name in ("slow_training", "fast_training")
    ]
    return float(np.abs(np.divide(*runs) - 1).max())


def counts(ns: dict[str, Any]) -> None:
    """Print what both loops ask of a device in two epochs of six steps, as Task 8's check counts it."""
    for name in ("slow_training", "fast_training"):
        training = ns["make_training"](0, count.STAND_IN)
        asked = count.operations(ns[name], *training, *small(5), count.STAND_IN, epochs=2, batch_size=16)
        print(f"Task 8, {name}: {asked}")
    print("  allowed: 4 transfers, 4 synchronisations, 560 launches, 65536 bytes kept at once")


def slow_over_fast(ns: dict[str, Any], data: Any) -> tuple[float, float, float]:
    """Return quartiles of the time of one epoch, slow over fast, measured in turn on one core."""

    def run(name: str) -> Any:
        training = ns["make_training"](0, "cpu")
        return lambda: ns[name](*training, *data, "cpu", epochs=1, batch_size=32)

    return compare({name: run(f"{name}_training") for name in ("slow", "fast")}, repeat=10).ratio("slow", "fast")


def crossover(ns: dict[str, Any]) -> dict[int, list[float]]:
    """Print and return how many times as fast as one core a step is, by width: ten ratios each, GPU or model."""
    where = device()
    print("Experiment 2, times as fast as this core:", f"{where}, measured" if where != "cpu" else f"{SHEET}, model")
    table: dict[int, list[float]] = {width: [] for width in WIDTHS}
    for _ in SEEDS:
        core, starting = fastest(ns)
        for width in WIDTHS:
            if where != "cpu":
                card = min(bench(ns["two_layers"](width, where)).samples_s)
            else:
                card = ns["modelled"](width, ns["DATA_SHEETS"][SHEET], starting)
            table[width].append(core[width] / card)
    for width in WIDTHS:
        print(f"  width {width:5}: {median_and_range(table[width], 1)}")
    rising = sum(list(run) == sorted(run) for run in zip(*table.values(), strict=True))
    print(f"  the gain grows with every width in {rising} of {len(SEEDS)} runs")
    return table


def fastest(ns: dict[str, Any]) -> tuple[dict[int, float], float]:
    """Return the fastest of nine steps of this core, by width, and of nine that only start the operators."""
    core, starts = {}, []
    for width in WIDTHS:
        timings = compare({"step": ns["two_layers"](width, "cpu"), "start": ns["two_layers"](1, "cpu")}, repeat=9)
        core[width] = min(timings["step"].samples_s)
        starts.append(min(timings["start"].samples_s))
    return core, min(starts)


def write_speedup_card(cards: Path, table: dict[int, list[float]]) -> None:
    """Measured where there is a GPU; else the note says what was modelled."""
    on_gpu = device() != "cpu"
    narrow, wide = (table[width] for width in (WIDTHS[0], WIDTHS[-1]))
    how = (
        f"Measured on {device()}."
        if on_gpu
        else "No GPU here: one core is measured, the GPU is modelled from the V100's data sheet."
    )
    result_card(
        "training is faster on a GPU than on a CPU (a step of two layers of width 2048, GPU over one core"
        f"{'' if on_gpu else '; a model'})",
        np.median(wide),
        unit="x",
        n=len(wide),
        spread=np.std(wide),
        seed_value=10,
        source="A: training is at least 10x faster on GPUs than on CPUs",
        lab=LAB,
        note=f"{how} At width 32 it is {np.median(narrow):.1f} x: large work is faster, not all work.",
        kind="measured" if on_gpu else "modelled",
        path=cards / "gpu_speedup.json",
    )


def write_roof_cards(cards: Path, ns: dict[str, Any], ridges: list[float], bandwidths: list[float]) -> None:
    result_card(
        "work below this intensity is bound by memory on one core (FLOP a byte at the ridge of its roofline)",
        np.median(ridges),
        n=len(ridges),
        spread=np.std(ridges),
        source="A: one has to be careful that the GPU does not become bandwidth-bound",
        lab=LAB,
        note="Data sheets put the ridge at 17 for a V100 in float32, 139 with its Tensor Cores: CPUs are bound, too.",
        path=cards / "ridge.json",
    )
    ratio = [ns["DATA_SHEETS"][SHEET][1] / width for width in bandwidths]
    result_card(
        "a GPU reads its memory faster than a CPU (V100's data sheet over one core's triad)",
        np.median(ratio),
        unit="x",
        n=len(ratio),
        spread=np.std(ratio),
        source="D: GPUs have memory of wide bandwidth",
        lab=LAB,
        note="One core's share is measured, the GPU's is printed by its maker; all cores together read faster.",
        kind="modelled",
        path=cards / "bandwidth.json",
    )


def write_counted_cards(cards: Path, ns: dict[str, Any], slow: tuple[float, float, float]) -> None:
    sheets = ns["DATA_SHEETS"]
    starting = min(bench(ns["two_layers"](1, "cpu"), repeat=100).samples_s)
    plain = ns["modelled"](2048, sheets[SHEET], starting)
    tensor = ns["modelled"](2048, sheets["V100, Tensor Cores"], starting, itemsize=2)
    result_card(
        "Tensor Cores speed up training (modelled step of two layers of width 2048, with over without)",
        plain / tensor,
        unit="x",
        seed_value=12,
        source="A: Volta is 12x faster thanks to Tensor Cores, 120 TFLOP",
        lab=LAB,
        note="A model: the peaks differ by 8, launches and the bus do not; 12 compares with the generation before.",
        kind="modelled",
        path=cards / "tensor_cores.json",
    )
    cycles = ns["systolic_cycles"](TPU_BATCH, 2048, 2048, TPU_CELLS)
    result_card(
        "a systolic array is kept busy by large batches (share of 256 x 256 cells' cycles, batch 200)",
        TPU_BATCH * 2048**2 / TPU_CELLS**2 / cycles,
        source="A, further reading: Jouppi et al. 2017, In-Datacenter Performance Analysis of a TPU",
        lab=LAB,
        note="Counted, for weights of 2048 x 2048, nothing overlapped. The TPU hides the loading.",
        kind="counted",
        path=cards / "systolic.json",
    )
    result_card(
        "six habits slow a training loop down (time of an epoch, with over without, one CPU core)",
        slow[1],
        unit="x",
        n=10,
        spread=(slow[2] - slow[0]) / 2,
        lab=LAB,
        note="Spread: half the distance of the quartiles. On a CPU transfers and synchronisations cost nothing.",
        path=cards / "slow_loop.json",
    )


if __name__ == "__main__":
    main()
