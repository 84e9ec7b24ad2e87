"""Prints the numbers behind lab 05: products counted, digits lost, maps, microbatching; writes its cards.

python -m benchmarks.lab05 [--cards]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, mean_and_spread, median_and_range, solution
from labkit import result_card

LAB = folder("05_convolution")
EXPLORED = (
    "digits_lost",
    "counted",
    "able",
    "clocked",
    "table_of",
    "one_turn",
    "by_integer_program",
    "by_brute_force",
    "by_products",
)
ROUNDS, TURNS = 7, 4
LIMITS_MIB = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
SHAPES = ((2, 3, 16, 8, 4, 3, 3), (1, 2, 16, 16, 2, 3, 3), (1, 2, 32, 8, 3, 3, 3))
B_MICROBATCH = "B: up to 4.54 times as fast on DeepBench (Oyama et al. 2018)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = LAB / "cards" if parser.parse_args().cards else None
    ns = solution(LAB.name, also=EXPLORED)
    products = products_counted(ns)
    digits = digits_lost(ns)
    winners, fft = maps(ns)
    plain, better, free, off = microbatching(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        counted_cards(cards, products, digits)
        measured_cards(cards, winners, fft)
        plan_cards(cards, plain, better, free, off)


def products_counted(ns: dict[str, Any]) -> float:
    """Fail unless the solution multiplies as often as its formula says; return direct's products over F(4,3)'s."""
    for sizes in SHAPES:
        shape = ns["Shape"](*sizes)
        for name in ns["RUN"]:
            formula, (found, constants) = (
                ns["multiplications_and_workspace"](name, shape)[0],
                ns["counted"](name, shape),
            )
            print(f"{shape} {name:10} formula {formula:9,.0f} counted {found:9,} by constants {constants:9,}")
            if found != formula:
                raise SystemExit("the lab's text says that both counts of multiplications are equal")
    whole = ns["Shape"](1, 2, 18, 18, 2, 3, 3)
    direct, tiles = (ns["counted"](name, whole)[0] for name in ("direct", "F(4,3)"))
    return float(direct / tiles)


def digits_lost(ns: dict[str, Any]) -> list[float]:
    """Print errors over ten seeds, fail unless larger tiles err more; return digits lost by F(6,3) in float16."""
    lost = []
    for dtype in ("float16", "float32"):
        found: dict[str, list[float]] = {}
        for seed in SEEDS:
            draw = np.random.default_rng(100 + seed)
            ns["x"], ns["weights"] = draw.normal(size=(2, 16, 26, 26)), draw.normal(size=(16, 16, 3, 3))
            ns["exact"] = ns["conv_direct"](ns["x"], ns["weights"])
            for name, error in ns["digits_lost"](dtype).items():
                found.setdefault(name, []).append(-float(np.log10(error)))
        for name, values in found.items():
            print(f"right digits in {dtype}, {name}: {median_and_range(values, 2)}")
        two, four, six = (np.array(found[f"F({m},3)"]) for m in (2, 4, 6))
        if not ((two > four) & (four > six)).all():
            raise SystemExit("the lab's text says that each larger tile loses digits")
        if dtype == "float16":
            lost = list(np.array(found["direct"]) - six)
    print(f"digits that F(6,3) loses in float16: {mean_and_spread(lost, 2)}")
    return lost


def maps(ns: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Return, a number a round: how many algorithms win somewhere, and FFT's time over im2col's for 3 x 3."""
    counted = {at: ns["fewest"](shape) for at, shape in ns["shapes"].items()}
    print(f"fewest multiplications: {sorted(set(counted.values()))}")
    wins, ratios = [], []
    for number in range(ROUNDS):
        measured = {at: ns["times"](shape) for at, shape in ns["shapes"].items()}
        here = {at: min(times, key=times.get) for at, times in measured.items()}
        agree = sum(counted[at] == here[at] for at in here)
        print(f"round {number}: fastest {sorted(set(here.values()))}, as counted in {agree} of {len(here)}")
        if agree == len(here) or len(set(here.values())) < 2 or len(set(counted.values())) < 2:
            raise SystemExit("the lab's text says that no algorithm wins everywhere and that maps differ")
        wins.append(float(len(set(here.values()))))
        ratios.append(measured[16, 3]["FFT"] / measured[16, 3]["im2col"])
    print(f"time of FFT over im2col, 3 x 3, 16 channels: {median_and_range(ratios, 1)}")
    return wins, ratios


def microbatching(ns: dict[str, Any]) -> tuple[list[float], list[float], list[float], list[float]]:
    """Return, a number a round, the largest gain of ten limits, that with a better baseline, also without a limit.

    And, a number a plan, how far it is from the best.
    """
    limits = np.array(LIMITS_MIB) * 2**20
    plain, better, off, free = [], [], [], []
    for number in range(ROUNDS):
        table = ns["table_of"](lambda a, shape: ns["clocked"](ns["RUN"][a], *ns["arrays"](shape), turns=TURNS))
        ns["seconds_of"] = table
        batches = [ns["LAYER"]._replace(n=int(b)) for b in ns["batch_sizes"]]
        row = [ns["clocked"](ns["by_products"], *ns["arrays"](batch), turns=TURNS) for batch in batches]
        more = np.vstack([table, row]), np.vstack([ns["bytes_of"], 0 * ns["batch_sizes"]])
        first = [ns["gain"](table, ns["bytes_of"], limit) for limit in limits]
        second = [ns["gain"](*more, limit) for limit in limits]
        plain.append(max(first))
        better.append(max(second))
        free.append(second[-1])
        print(f"round {number}, gain by limit: {np.round(first, 2)}; better baseline: {np.round(second, 2)}")
        off += [excess(ns, limit) for limit in limits]
    print(f"largest gain: {median_and_range(plain, 2)}; with a better baseline: {median_and_range(better, 2)}")
    print(f"the latter without a limit: {median_and_range(free, 2)}")
    print(f"plans over the best of brute force and integer program, relative: at most {max(off):.1e}")
    if max(off) > 1e-9:
        raise SystemExit("a plan is not the best")
    return plain, better, free, off


def excess(ns: dict[str, Any], limit: float) -> float:
    plan = ns["plan_microbatch"](ns["seconds_of"], ns["bytes_of"], limit)
    mine = sum(ns["seconds_of"][a, b - 1] for b, a in plan)
    best = min(ns["by_brute_force"](limit), ns["by_integer_program"](limit))
    return float(mine / best - 1)


def several(values: Sequence[float], unit: str) -> dict[str, Any]:
    about = {"unit": unit, "lab": LAB.name, "n": len(values)}
    return {"value": float(np.median(values)), "spread": float(np.std(values)), **about}


def counted_cards(cards: Path, products: float, digits: list[float]) -> None:
    result_card(
        "multiplications of direct convolution over Winograd's F(4x4, 3x3)",
        products,
        unit="x",
        seed_value=4,
        source="Lavin and Gray 2016: 144 over 36",
        lab=LAB.name,
        note="Counted in the solution's own code, by numbers that note each product. Its transforms multiply "
        "by constants as well, which is not counted here.",
        kind="counted",
        path=cards / "winograd_products.json",
    )
    result_card(
        "larger tiles of Winograd lose digits (decimal digits that F(6x6, 3x3) loses in float16)",
        **several(digits, "digits"),
        note="Of about three. In float32 it loses more than one, too, but of seven.",
        path=cards / "winograd_digits.json",
    )


def measured_cards(cards: Path, winners: list[float], fft: list[float]) -> None:
    result_card(
        "many convolution algorithms are needed (of six, how many are the fastest somewhere)",
        **several(winners, "of 6"),
        seed_value=16,
        source="B: about 16 implementations in cuDNN",
        note="28 layers, 1 to 48 channels, kernels of 1 x 1 to 13 x 13, in NumPy on one core. B counts what there is, "
        "not what wins.",
        path=cards / "algorithms.json",
    )
    result_card(
        "a Fourier transform loses for a 3 x 3 kernel (time of FFT over im2col, 16 channels)",
        **several(fft, "x"),
        note="It multiplies more often, too. On two images of 32 x 32 it multiplies less from 4 x 4 on.",
        path=cards / "fft_small_kernel.json",
    )


def plan_cards(cards: Path, plain: list[float], better: list[float], free: list[float], off: list[float]) -> None:
    about = f"Best of ten limits; 12 images, 5 x 5 kernels, in NumPy on one core; {ROUNDS} rounds of measured tables."
    result_card(
        "splitting a batch makes a layer faster under a workspace limit",
        **several(plain, "x"),
        seed_value=4.54,
        source=B_MICROBATCH,
        note=f"{about} The baseline, which alone fits undivided, is a direct convolution without matrix products: "
        "slow. A batch of one also stays in the cache.",
        path=cards / "microbatch.json",
    )
    result_card(
        "splitting a batch makes a layer faster under a workspace limit (better baseline)",
        **several(better, "x"),
        seed_value=4.54,
        source=B_MICROBATCH,
        note=f"{about} The baseline is a direct convolution of 25 matrix products, whose copies are not counted "
        f"as workspace. {np.median(free):.1f}x are left without a limit: small arrays stay in the cache.",
        path=cards / "microbatch_baseline.json",
    )
    result_card(
        "dynamic programming finds the best plan (seconds over those of an integer program, at most)",
        max(off) + 1,
        n=len(off),
        unit="x",
        lab=LAB.name,
        source="B: dynamic programming where space is reused, integer programming where it is shared",
        note="Also against all ways to split 12 images.",
        path=cards / "plan.json",
    )


if __name__ == "__main__":
    main()
