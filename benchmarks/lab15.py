"""Prints the numbers behind lab 15: bytes of each cut, bubbles counted and measured, mixtures; writes its cards.

python -m benchmarks.lab15 [--cards]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import folder, median_and_range, solution
from labkit import count, launch, load, result_card

LAB = "15_model_parallel"
EXPLORED = ("split_mlp", "stack", "layouts", "best_layout", "alexnet_layers")
ROUNDS = 5
BATCHES = (4, 16, 64, 256, 1024)
PCIE = {"speed": 1e12, "alpha": 2e-5, "beta": 1 / 5e9}
MODERN = {"speed": 2e14, "alpha": 1e-5, "beta": 1 / 5e10}
MEMORY = 80e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = folder(LAB) / "cards" if parser.parse_args().cards else None
    ns = solution(LAB, also=EXPLORED)
    halo = halo_ratio(ns)
    tensor, data = layer_bytes(ns)
    gathered = sharded_ratio(ns)
    measured = bubbles(ns)
    by_data, by_cut = alexnet_seconds(ns)
    gains = mixtures(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        write_counted(cards, halo, tensor, data, gathered)
        write_bubbles(cards, measured)
        write_modelled(cards, by_data / by_cut, gains)


def halo_ratio(ns: dict[str, Any]) -> float:
    """Print and return how many times the bytes of a halo an all-gather sends: 512 x 512, 3 x 3, four ranks."""
    image, k = np.ones((512, 512), np.float32), np.ones((3, 3), np.float32)
    jobs = [(4, np.split(image, 4), k)]
    few, many = (count.collective(ns[name], jobs)[0][1]["bytes"] for name in ("halo_conv", "gather_all"))
    print(f"an inner rank of four sends {few:,} bytes of halo, or {many:,} of all its rows: {many / few:g} times")
    return float(many / few)


def layer_bytes(ns: dict[str, Any]) -> tuple[list[int], int]:
    """Print and return what rank 0 of four sends in a step of an MLP, by batch; and what its gradients take."""
    draw, digits = np.random.default_rng(0), load("digits").train
    weights = [draw.normal(0, 0.1, shape) for shape in ((64, 256), (256,), (256, 10), (10,))]
    images = digits.x.reshape(-1, 64).astype(np.float64)
    jobs = [(4, [images[:n]] * 4, weights, digits.y[:n]) for n in BATCHES]
    tensor = [ranks[0]["bytes"] for ranks in count.collective(ns["split_mlp"], jobs)]
    flat = np.concatenate([array.ravel() for array in weights])
    data = count.collective(ns["all_reduce"], [(4, [flat] * 4)])[0][0]["bytes"]
    print(f"an MLP for the digits on four ranks: gradients {data:,} bytes, activations by batch:")
    print("  " + ", ".join(f"{n}: {sent:,}" for n, sent in zip(BATCHES, tensor, strict=True)))
    each = (64 + 10) * (weights[0].itemsize * 2 * 3 / 4)  # an image's numbers, in two all-reduces of four ranks
    print(f"  as many at {data / each:.0f} images: {flat.size:,} numbers of all weights, {64 + 10} an image")
    return tensor, data


def sharded_ratio(ns: dict[str, Any]) -> float:
    """Print and return how many times the bytes of an all-reduce a fully sharded layer sends."""
    w, pair = np.ones((128, 128)), {"x": np.ones((8, 128)), "dy": np.ones((8, 128))}
    yours = count.collective(ns["sharded_passes"], [(4, [{"passes": [pair]}] * 4, w)])[0][0]
    plain = count.collective(ns["all_reduce"], [(4, [w] * 4)])[0][0]
    held = yours["value"]["passes"][0]["held"][1] / (2 * w.nbytes)
    print(
        f"a sharded layer sends {yours['bytes'] / plain['bytes']:g} times the bytes, and holds {held:.0%} between steps"
    )
    return float(yours["bytes"] / plain["bytes"])


def bubbles(ns: dict[str, Any]) -> dict[tuple[str, int], list[float]]:
    """Print and return the idle shares of three stages that sleep in place of computing, over several launches."""
    found: dict[tuple[str, int], list[float]] = {}
    plans = [(name, M) for name in ("gpipe", "one_f_one_b") for M in (1, 6)]
    draw = np.random.default_rng(2)
    jobs = []
    for name, M in plans:
        orders = [ns[name](s, 3, M) for s in range(3)]
        arrays = [np.split(draw.normal(size=(24, 16)), M) for _ in range(2)]
        ws = [draw.normal(0, 0.4, (16, 16)) for _ in range(3)]
        jobs.append({"orders": orders, "ws": ws, "xs": arrays[0], "targets": arrays[1], "tick_s": 0.3 / M})
    for _ in range(ROUNDS):
        ranks = launch(ns["pipelines"], 3, jobs, backend="gloo", timeout_s=60)
        for at, plan in enumerate(plans):
            notes = {(s, what, m): (b, e) for s, rank in enumerate(ranks) for what, m, b, e in rank[at]["notes"]}
            zero = min(begin for begin, _ in notes.values())
            spans = {key: (b - zero, e - zero) for key, (b, e) in notes.items()}
            found.setdefault(plan, []).append(ns["idle"](spans))
    for (name, M), shares in found.items():
        counted = ns["idle"](ns["clock"]([ns[name](s, 3, M) for s in range(3)]))
        shown = median_and_range([100 * share for share in shares])
        print(f"{name}, three stages, {M} microbatches: {shown} % idle measured, {counted:.1%} counted")
    return found


def alexnet_seconds(ns: dict[str, Any]) -> tuple[float, float]:
    """Print and return the modelled seconds of a step of AlexNet on two GPUs: data parallel, and its own cut."""
    net = ns["alexnet_layers"]()
    found = [ns["hybrid_cost"](net, PCIE, 128, *layout, 1) for layout in ((2, 1, 1), (1, 2, 1))]
    for title, (seconds, held) in zip(("data parallel", "its own cut"), found, strict=True):
        print(f"AlexNet on two GPUs, {title}: {seconds * 1e3:.1f} ms a step, {held / 2**20:.0f} MiB")
    return found[0][0], found[1][0]


def mixtures(ns: dict[str, Any]) -> dict[tuple[int, int], float]:
    """Print and return how many times as fast as the best single cut the best mixture is, by width and batch."""
    gains = {}
    for width in (2048, 4096, 8192):
        for batch in (64, 256, 1024):
            net = ns["stack"](32, width)
            best = ns["best_layout"](net, MODERN, batch, 64, MEMORY)
            single = [
                ns["hybrid_cost"](net, MODERN, batch, dp, tp, pp, M)
                for dp, tp, pp in ((64, 1, 1), (1, 1, 32))
                for M in (1, 2, 4, 8, 16, 32)
                if batch >= dp * M
            ]
            fits = [seconds for seconds, held in single if held <= MEMORY]
            gains[width, batch] = min(fits, default=float("inf")) / best[0]
            layout = " x ".join(map(str, best[1:4]))
            print(
                f"width {width}, batch {batch}: {layout}, {best[4]} microbatches, {best[0]:.3g} s, "
                f"{gains[width, batch]:.2f} times as fast as the best single cut that fits"
            )
    return gains


def write_counted(cards: Path, halo: float, tensor: list[int], data: int, gathered: float) -> None:
    """Write the cards of what is counted."""
    result_card(
        "bytes of an all-gather over those of a halo (512 x 512, 3 x 3 kernel, 4 ranks)",
        halo,
        unit="x",
        source="A: convolutions cut along the image send fringes alone",
        lab=LAB,
        kind="counted",
        note="Sent by an inner rank. The ratio grows with the image.",
        path=cards / "halo.json",
    )
    result_card(
        "bytes of activations over bytes of gradients, split MLP, 1024 images, 4 ranks",
        tensor[-1] / data,
        unit="x",
        source="A: cut fully connected layers send activations in each iteration",
        lab=LAB,
        kind="counted",
        note=f"With {BATCHES[0]} images {tensor[0] / data:.3f}x: cut where batches are small and weights many.",
        path=cards / "activations.json",
    )
    result_card(
        "bytes of a fully sharded layer over those of data parallel training",
        gathered,
        unit="x",
        source="Rajbhandari et al. 2020: 1.5 times",
        seed_value=1.5,
        lab=LAB,
        kind="counted",
        note="Four ranks; weights and gradient between steps take a quarter.",
        path=cards / "sharded.json",
    )


def write_bubbles(cards: Path, measured: dict[tuple[str, int], list[float]]) -> None:
    """Write the cards of idle shares, measured on sleeping devices."""
    for (name, M), title in ((("gpipe", 1), "one"), (("one_f_one_b", 6), "six")):
        shares = measured[name, M]
        result_card(
            f"idle share of three pipeline stages, {M} microbatch{'es' * (M > 1)}",
            float(np.median(shares)),
            n=len(shares),
            spread=float(max(shares) - min(shares)) / 2,
            seed_value=2 / (M + 2),
            source="(S-1)/(M+S-1), Huang et al. 2019; B: pipeline parallelism",
            lab=LAB,
            kind="measured",
            note="Real processes and messages; their devices sleep in place of computing.",
            path=cards / f"bubble_{title}.json",
        )


def write_modelled(cards: Path, alexnet: float, gains: dict[tuple[int, int], float]) -> None:
    """Write the cards of what the cost model says."""
    result_card(
        "a step of AlexNet on two GPUs: data parallel over its own cut",
        alexnet,
        unit="x",
        source="D: AlexNet cut over two GPUs (Krizhevsky et al. 2012)",
        lab=LAB,
        kind="modelled",
        note="128 images, 1 Tflop/s, a link of 5 GB/s, nothing hidden.",
        path=cards / "alexnet.json",
    )
    result_card(
        "the best single cut over the best mixture, 6.4 G weights, batch 256, 64 devices",
        gains[4096, 256],
        unit="x",
        source="B: hybrid parallelism, very powerful",
        lab=LAB,
        kind="modelled",
        note="32 equal layers, 80 GB a device, one kind of link; single cuts: all data or all pipeline.",
        path=cards / "mixture.json",
    )


if __name__ == "__main__":
    main()
