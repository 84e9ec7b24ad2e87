"""Prints the numbers behind lab 11: counts, alpha and beta, loopback ratios, the model; writes its cards.

python -m benchmarks.lab11 [--cards]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, median_and_range, solution
from labkit import count, launch, result_card

LAB = folder("11_collectives")
RANKS = range(2, 9)
NUMBERS = 840  # divided by 2 to 8
COMPUTE_S, GRADIENT = 0.64, 102e6  # ResNet-50: 256 images on one card, and the bytes of its gradient
NETWORKS = {"NVLink": (10e-6, 1 / 150e9), "Ethernet": (50e-6, 1 / 1.25e9)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = LAB / "cards" if parser.parse_args().cards else None
    ns = solution(LAB.name, also=["time_schemes"])
    schemes = {
        "ring": ns["ring_allreduce"],
        "doubling": ns["recursive_doubling"],
        "sharded server": ns["parameter_server_exchange"],
        "central server": ns["central_server"],
    }
    busiest = bytes_of_the_busiest(ns, schemes)
    spread = rounding(ns, schemes)
    print(f"largest error of a float32 sum of 8 ranks, values near 100, ten seeds: {spread:.1e}; the checks allow 1e-3")
    fits = [fit(ns) for _ in SEEDS]
    alphas, widths = [1e6 * a for a, _ in fits], [1e-9 / b for _, b in fits]
    print(f"loopback, ten fits: alpha {median_and_range(alphas, 0)} us, {median_and_range(widths, 2)} GB/s")
    ratios = loopback(ns, schemes)
    best = scaling(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        write_counted_cards(cards, busiest)
        write_modelled_cards(cards, best)
        write_measured_cards(cards, alphas, ratios)


def bytes_of_the_busiest(ns: dict[str, Any], schemes: dict[str, Callable[..., Any]]) -> dict[str, list[float]]:
    """Print and return what the busiest rank sends, in units of m, for each number of ranks, as it is counted."""
    jobs = [(size, [np.ones(NUMBERS, np.float32)] * size) for size in RANKS]
    found = {}
    for name, scheme in schemes.items():
        sent = [max(done["bytes"] for done in ranks) for ranks in count.collective(scheme, jobs)]
        found[name] = [nbytes / (4 * NUMBERS) for nbytes in sent]
        print(f"bytes of the busiest rank, in m, P = 2 to 8: {name:15} {np.round(found[name], 3)}")
    theory = [2 * (size - 1) / size for size in RANKS]
    print(f"  largest distance of the ring from 2 (P - 1) / P: {np.abs(np.subtract(found['ring'], theory)).max():.1e}")
    return found


def rounding(ns: dict[str, Any], schemes: dict[str, Callable[..., Any]]) -> float:
    """Return the largest difference of any scheme's float32 sum from the float64 one, over the seeds."""
    worst = 0.0
    jobs = [(8, list(np.random.default_rng(seed).normal(0, 100, (8, 60)).astype(np.float32))) for seed in SEEDS]
    for scheme in schemes.values():
        for ranks, (_, xs) in zip(count.collective(scheme, jobs), jobs, strict=True):
            exact = np.sum(xs, axis=0, dtype=np.float64)
            for result in ranks:
                worst = max(worst, float(np.abs(result["value"] - exact).max()))
    return worst


def fit(ns: dict[str, Any]) -> tuple[float, float]:
    """Return alpha and beta of messages between two ranks of this machine."""
    sizes = (4 ** np.arange(12)).tolist()
    model = ns["AlphaBeta"]()
    model.fit(sizes, launch(ns["ping_pong"], 2, sizes)[0])
    return model.alpha, model.beta


def loopback(ns: dict[str, Any], schemes: dict[str, Callable[..., Any]]) -> dict[int, list[float]]:
    """Print and return the seconds of the ring over those of the central server, eight ranks, taken in turn."""
    sizes = [2**10, 2**16, 2**20]
    found: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in SEEDS:
        spans = np.array(launch(ns["time_schemes"], 8, list(schemes.values()), sizes, 5, timeout_s=100))
        took = np.median(spans[..., 1].max(axis=0) - spans[..., 0].min(axis=0), axis=-1)
        for row, size in enumerate(sizes):
            found[size].append(float(took[row, 0] / took[row, 3]))
    for size, ratios in found.items():
        print(f"loopback, ring over central server, {size >> 10:4} KiB, ten launches: {median_and_range(ratios, 2)}")
    return found


def scaling(ns: dict[str, Any]) -> dict[tuple[str, str], tuple[int, float, float]]:
    """Print and return, for each network and scheme, the best number of devices, its speed-up, and that of eight."""
    found = {}
    for network, (alpha, beta) in NETWORKS.items():
        for scheme in ("ring", "doubling", "server"):

            def communication(size: int, scheme: str = scheme, alpha: float = alpha, beta: float = beta) -> float:
                return float(ns["allreduce_seconds"](scheme, size, GRADIENT, alpha, beta))

            best, gain = ns["best_size"](COMPUTE_S, communication, list(range(1, 257)))
            eight = COMPUTE_S / (COMPUTE_S / 8 + communication(8))
            found[network, scheme] = best, gain, eight
            print(f"{network:8} {scheme:8}: best with {best:3}, {gain:5.1f} x; with 8 devices {eight:4.1f} x")
    return found


def write_counted_cards(cards: Path, busiest: dict[str, list[float]]) -> None:
    result_card(
        "a ring all-reduce sends 2 m (P - 1) / P bytes a rank (units of m, 8 ranks)",
        busiest["ring"][-1],
        seed_value=1.75,
        source="B: byte term of an all-reduce, 2 gamma m G (P - 1) / P, with P = 8",
        lab=LAB.name,
        note="Counted on real messages. The ring has these bytes, but 2 (P - 1) latencies instead of 2 log2 P.",
        kind="counted",
        path=cards / "ring_bytes.json",
    )
    result_card(
        "the link of a central parameter server is hot (bytes it sends, units of m, 8 ranks, itself one of them)",
        busiest["central server"][-1],
        seed_value=8,
        source="B: a parameter server costs 2 L + 2 P gamma m G for one shard",
        lab=LAB.name,
        note="B's server is a machine of its own with P workers; ours is one of the ranks, so it serves P - 1.",
        kind="counted",
        path=cards / "central_server.json",
    )
    result_card(
        "sharding cools the server's link (bytes the busiest rank sends, units of m, 8 ranks and 8 shards)",
        busiest["sharded server"][-1],
        seed_value=2,
        source="B: a sharded parameter server costs 2 L + 2 P gamma m / s G",
        lab=LAB.name,
        note="Ranks serve their own chunk without a message; with servers of their own it would be 2.",
        kind="counted",
        path=cards / "sharded_server.json",
    )


def write_modelled_cards(cards: Path, best: dict[tuple[str, str], tuple[int, float, float]]) -> None:
    result_card(
        "NVLink is faster than 10 Gbit Ethernet (bandwidth, one way)",
        150 / 1.25,
        unit="x",
        seed_value=100,
        source="A: NVLink, 300 GB/s, is 100x faster than 10 Gbit Ethernet, 1 GB/s",
        lab=LAB.name,
        note="From data sheets. A's own numbers give 300; 300 GB/s count both directions, 10 Gbit/s are 1.25 GB/s.",
        kind="modelled",
        path=cards / "nvlink.json",
    )
    _, _, near = best["NVLink", "ring"]
    size, gain, far = best["Ethernet", "ring"]
    result_card(
        "eight devices on one machine are nearly eight times as fast (ResNet-50, ring, NVLink; a model)",
        near,
        unit="x",
        source="A: parallelism works best between multiple GPUs on the same machine",
        lab=LAB.name,
        note=f"On 10 Gbit Ethernet {far:.1f} x, at most {gain:.1f} x (with {size}). Nothing overlaps.",
        kind="modelled",
        path=cards / "scaling.json",
    )


def write_measured_cards(cards: Path, alphas: list[float], ratios: dict[int, list[float]]) -> None:
    small = ratios[2**16]
    result_card(
        "on one machine the ring loses to a central server (time, 8 ranks, 64 KiB, ring over server)",
        float(np.median(small)),
        unit="x",
        n=len(small),
        spread=float(np.std(small)),
        lab=LAB.name,
        note="Ranks share cores and memory here: the number of all messages counts (112 against 14), no link is hot.",
        path=cards / "loopback.json",
    )
    result_card(
        "a message between two processes of one machine has a latency (alpha)",
        float(np.median(alphas)),
        unit="µs",
        n=len(alphas),
        spread=float(np.std(alphas)),
        lab=LAB.name,
        note="Fitted to the fastest of 40 round trips of each size; a form of 64 bytes goes ahead of each message.",
        path=cards / "alpha.json",
    )


if __name__ == "__main__":
    main()
