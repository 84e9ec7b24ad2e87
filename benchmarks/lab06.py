"""Prints the numbers behind lab 06: bytes kept, brought down and planned, equal gradients; writes its cards.

python -m benchmarks.lab06 [--cards]
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.common import SEEDS, folder, mean_and_spread, median_and_range, solution
from labkit import count, result_card

LAB = folder("06_memory")
EXPLORED = ("gradients_of", "course_of", "resnet_sizes", "resnet_peak", "lstm_chain", "new_gpt")
GB = 1e9
ROUNDS = 7
TABLES = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = LAB / "cards" if parser.parse_args().cards else None
    ns = solution(LAB.name, also=EXPLORED)
    thousand = thousand_layers(ns)
    chain = chains(ns)
    excess = plans(ns)
    forgotten = generators(ns)
    slower, less = character_model(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        thousand_cards(cards, thousand)
        chain_cards(cards, chain, excess)
        model_cards(cards, forgotten, slower, less)


def thousand_layers(ns: dict[str, Any]) -> dict[str, float]:
    """Return gigabytes of the residual network; fail unless its pieces and its layers agree with the whole."""
    layers = ns["resnet_layers"](ns["THOUSAND"])
    storage = ns["layer_storage"](layers, 32)
    kept, given = ns["resnet_sizes"](ns["THOUSAND"])
    ns["piece_bytes"], ns["input_bytes"] = kept, given
    peaks = {k: ns["resnet_peak"](ns["in_segments"](len(kept), k)) for k in range(1, 200)}
    least = min(peaks, key=lambda k: peaks[k])
    with torch.device("meta"):
        pieces, x = ns["resnet_pieces"](ns["THOUSAND"]), torch.empty(32, 3, 224, 224)
    own = [p for piece in pieces for p in piece.parameters()]
    if sum(p.nbytes for p in own) != storage["weights"]:
        raise SystemExit("the layers have other weights than the network that is built")
    with count.Kept(without=[x, *own]) as whole:
        y = ns["in_order"](pieces, x)
    if (all_kept := whole.now) != sum(kept):
        raise SystemExit("the pieces keep other bytes than the network that is built")
    del y  # and with it what is kept
    with count.Kept(without=[x, *own]) as parts:
        ns["checkpoint_chain"](pieces, x, ns["in_segments"](len(kept), least)).sum().backward()
    if parts.peak != peaks[least]:
        raise SystemExit("the network in segments peaks elsewhere than its pieces say")
    found = {"outputs": storage["outputs"], "kept": all_kept, "peak": parts.peak, "weights": storage["weights"]}
    print(f"1001 layers, 32 images, GB: { {name: round(size / GB, 3) for name, size in found.items()} }")
    print(f"segments {least}; outputs and gradients {2 * storage['outputs'] / GB:.1f} GB")
    return {"segments": least, **{name: size / GB for name, size in found.items()}}


def chains(ns: dict[str, Any]) -> dict[str, float]:
    """Return peaks in outputs and calls of layers, and what an LSTM keeps before over after."""
    course, calls = ns["course_of"](256, ns["even_cuts"](256))
    print(f"256 layers in even cuts: peak {course.max():.0f} outputs, {calls} calls")
    least = 64
    while plan_or_none(ns, [1] * 64, [1] * 64, least - 1):
        least -= 1
    counted = ns["course_of"](64, plan_or_none(ns, [1] * 64, [1] * 64, least))[0].max()
    even = ns["course_of"](64, ns["even_cuts"](64))[0].max()
    print(f"64 layers: least peak {least}, counted {counted:.0f}; even cuts {even:.0f}")
    if not counted == least == math.ceil((math.sqrt(8 * 64 + 1) - 1) / 2):
        raise SystemExit("the lab's text says that the least peak is about sqrt(2 n)")
    fns, state, own = ns["lstm_chain"](400)
    sizes = []
    for cuts in (list(range(1, 401)), ns["even_cuts"](400)):
        with count.Kept(without=[state, *own]) as held:
            ns["checkpoint_chain"](fns, state, cuts).sum().backward()
        sizes.append(held.peak)
    print(f"LSTM of 400 steps: {sizes[0]:,} and {sizes[1]:,} bytes")
    return {"peak": course.max(), "calls": calls / 256, "least": least, "even": even, "lstm": sizes[0] / sizes[1]}


def plan_or_none(ns: dict[str, Any], costs: list[int], sizes: list[int], budget: int) -> Any:
    try:
        return ns["plan_checkpoints"](costs, sizes, budget)
    except ValueError:
        return None


def plans(ns: dict[str, Any]) -> list[float]:
    """Return, a number a table of uneven layers, the cost of the plan over the least of all ways to cut."""
    draw, found = np.random.default_rng(6), []
    for _ in range(TABLES):
        costs, sizes = draw.integers(1, 50, (2, 12)).tolist()
        ways = [ns["cost_and_peak"](cuts, costs, sizes) for cuts in ns["all_cuts"](12)]
        low = min(peak for _, peak in ways)
        budget = int(draw.integers(low, sum(sizes)))
        mine = ns["cost_and_peak"](ns["plan_checkpoints"](costs, sizes, budget), costs, sizes)
        best = min(cost for cost, peak in ways if peak <= budget)
        if mine[1] > budget:
            raise SystemExit("a plan does not keep to its budget")
        found.append((mine[0] + 1) / (best + 1))
    print(f"plans over the best of 2,048 ways to cut: at most {max(found)}")
    return found


def generators(ns: dict[str, Any]) -> list[float]:
    """Return the relative error of gradients without the generator's state; fail unless with it there is none."""
    from functools import partial

    from torch.utils.checkpoint import checkpoint

    forgetful = partial(checkpoint, use_reentrant=False, preserve_rng_state=False)
    errors = []
    for seed in SEEDS:
        draw = torch.Generator().manual_seed(seed)
        weights = [torch.randn(64, 64, generator=draw) / 8 for _ in range(9)]
        x = torch.randn(256, 64, generator=draw)
        plain, mine, wrong = (
            ns["gradients_of"](weights, x, 0.2, call)[0]
            for call in (lambda run, x: run(x), ns["checkpoint"], forgetful)
        )
        if not all(map(torch.equal, plain, mine)):
            raise SystemExit("the lab's text says that gradients are equal to the last bit")
        off = sum(float(((a - b) ** 2).sum()) for a, b in zip(plain, wrong, strict=True))
        errors.append(math.sqrt(off / sum(float((a**2).sum()) for a in plain)))
    print(f"error of gradients with another mask: {mean_and_spread(errors)}")
    return errors


def character_model(ns: dict[str, Any]) -> tuple[list[float], float]:
    """Return seconds with checkpoints over without, a number a round, and bytes kept without over with."""
    blocks, peaks = list(range(2, 17, 2)), []
    ratios = []
    for number in range(ROUNDS):
        seconds, losses = [], []
        for cuts in (None, blocks):
            model = ns["new_gpt"](cuts)
            begin = time.perf_counter()
            loss, peak, _ = ns["train"](model, ns["text_codes"], 5)
            seconds.append(time.perf_counter() - begin)
            losses.append(loss)
            peaks.append(peak)
        ratios.append(seconds[1] / seconds[0])
        if losses[0] != losses[1]:
            raise SystemExit("the lab's text says that losses are equal to the last bit")
        print(f"round {number}: {seconds[1]:.2f} s over {seconds[0]:.2f} s")
    print(f"GPT kept {peaks[0]:,} and {peaks[1]:,} bytes; time {median_and_range(ratios, 2)}")
    return ratios, peaks[0] / peaks[1]


def several(values: Sequence[float], unit: str, pick: Callable[..., Any] = np.median) -> dict[str, Any]:
    return {
        "value": float(pick(values)),
        "spread": float(np.std(values)),
        "unit": unit,
        "lab": LAB.name,
        "n": len(values),
    }


def thousand_cards(cards: Path, found: dict[str, float]) -> None:
    about: dict[str, Any] = {"unit": "GB", "lab": LAB.name, "kind": "counted"}
    result_card(
        "a 1000-layer ResNet at batch size 32, all outputs stored",
        found["outputs"],
        seed_value=130,
        source="C: about 130 GB",
        note=f"1001 layers, 83 or 84 blocks a stage; C says neither what it counts nor how blocks are spread. "
        f"With the gradients of outputs {2 * found['outputs']:.0f} GB. PyTorch keeps {found['kept']:.1f} GB; "
        "Chen et al. (2016) give 48.",
        path=cards / "resnet_outputs.json",
        **about,
    )
    result_card(
        "a 1000-layer ResNet at batch size 32, only the heads of segments stored (peak)",
        found["peak"],
        source="C: a big reduction",
        note=f"{found['segments']:.0f} segments of about equal length, one more forward pass; before "
        f"{found['kept']:.1f} GB. Chen et al. (2016): 7 GB. Weights are not counted.",
        path=cards / "resnet_segments.json",
        **about,
    )


def chain_cards(cards: Path, found: dict[str, float], excess: list[float]) -> None:
    about: dict[str, Any] = {"lab": LAB.name, "kind": "counted"}
    result_card(
        "memory grows with the square root of the number of layers (outputs kept at the peak, 256 layers)",
        found["peak"],
        unit="outputs",
        source="C: sqrt(n), while requiring one extra forward pass in total",
        note=f"2 sqrt(n) - 1; each layer is called {found['calls']:.0f} times instead of once.",
        path=cards / "square_root.json",
        **about,
    )
    result_card(
        "segments that shrink need less than equal ones (outputs kept at the peak, 64 layers)",
        found["least"],
        unit="outputs",
        note=f"About sqrt(2 n); equal segments {found['even']:.0f}. For the same extra forward pass.",
        path=cards / "shrinking.json",
        **about,
    )
    result_card(
        "an LSTM of 400 steps is brought down by checkpoints (bytes kept, before over after)",
        found["lstm"],
        unit="x",
        source="C: the same for LSTMs",
        note="64 units, a batch of 16, segments of 20 steps or so.",
        path=cards / "lstm.json",
        **about,
    )
    result_card(
        "dynamic programming finds the best plan for uneven layers (cost over the least of 2,048 ways, at most)",
        max(excess),
        unit="x",
        lab=LAB.name,
        n=len(excess),
        note="12 layers of random costs and sizes, a random budget.",
        path=cards / "plan.json",
    )


def model_cards(cards: Path, forgotten: list[float], slower: list[float], less: float) -> None:
    result_card(
        "gradients are wrong without the generator's state (relative error, 20 % dropout)",
        **several(forgotten, "", np.mean),
        note="With it they are equal to the last bit, for each of the seeds.",
        path=cards / "generator.json",
    )
    result_card(
        "a character GPT keeps less with its blocks as segments (bytes at the peak, before over after)",
        less,
        unit="x",
        lab=LAB.name,
        kind="counted",
        note="8 blocks, 1.2 million weights, 8 texts of 64 characters, trained on Python's own library.",
        path=cards / "gpt_kept.json",
    )
    result_card(
        "the same exact result costs one extra forward pass (time of a training step of the GPT, with over without)",
        **several(slower, "x"),
        source="C: one extra forward pass",
        note="Losses are equal to the last bit. Products grow by a third, 4 forward passes' worth instead of 3.",
        path=cards / "gpt_time.json",
    )


if __name__ == "__main__":
    main()
