"""Prints the numbers behind lab 13: gradients a second, staleness, accuracies, rates and messages; writes its cards.

python -m benchmarks.lab13 [--cards]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, mean_and_spread, mean_of, median_and_range, solution
from labkit import result_card

LAB = "13_consistency"
EXPLORED = (
    "in_turn",
    "largest_rate",
    "alone",
    "local_sgd",
    "elastic",
    "ends_of_rounds",
    "gossip",
    "Counted",
    "Machines",
    "seconds_to",
    "ways",
    "my_rule",
)
WORKERS, SECONDS = 16, 100
RATES = 2, 1, 0.5, 0.25, 0.125, 0.0625
Names = dict[str, Any]
Found = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = folder(LAB) / "cards" if parser.parse_args().cards else None
    ns = solution(LAB, also=EXPLORED)
    speeds, reached = clusters(ns)
    found = {
        "full": full_rate(ns),
        "aware": full_rate(ns, aware=True),
        "rates": rates(ns),
        "local": messages(ns),
        "levels": levels(ns),
    }
    policies(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        write_speeds(cards, speeds, reached)
        write_learning(cards, found)


def told(title: str, values: list[float], digits: int = 2) -> list[float]:
    """Print the values of all seeds in words, and return them."""
    print(f"  {title:36} {mean_and_spread(values, digits)}, {median_and_range(values, digits)}", flush=True)
    return values


def clusters(ns: Names) -> tuple[Found, Found]:
    """Return gradients a second and virtual seconds to 85 %, by cluster and way, a number a seed."""
    speeds, reached = {}, {}
    for title, share in (("delays", 0.05), ("alike", 0.0)):
        runs = [ns["ways"](ns["seconds_of"](WORKERS, 250, seed, share)) for seed in SEEDS]
        print(f"cluster: {title}")
        for name in runs[0]:
            rate = [ns["rate_of"](run[name], 150) for run in runs]
            took = [ns["seconds_to"](run[name], seed=seed) for seed, run in zip(SEEDS, runs, strict=True)]
            told(f"{name}, gradients a second", rate)
            told(f"{name}, seconds to 85 %", took, 0)
            stale = [float(np.mean(ns["staleness"](run[name]))) for run in runs]
            told(f"{name}, staleness", stale, 1)
            speeds[f"{title}, {name}"], reached[f"{title}, {name}"] = rate, took
    return speeds, reached


def ratio(found: Found, one: str, other: str) -> list[float]:
    """Return the quotients of two ways, seed by seed."""
    return [float(a / b) for a, b in zip(found[one], found[other], strict=True)]


def full_rate(ns: Names, *, aware: bool = False) -> list[float]:
    """Return the accuracy of asynchronous training in which each gradient counts fully, or as its staleness allows."""
    shares = []
    for seed in SEEDS:
        events = ns["simulate"](ns["seconds_of"](WORKERS, 250, seed), ns["always"])
        server = ns["Server"](ns["start"](seed), 0.5, aware)
        shares.append(float(ns["replay"](events, server, SECONDS, seed)[1][-3:].mean()))
    return told(f"asynchronous, 0.5 each, aware {aware}", shares, 3)


def rates(ns: Names) -> list[float]:
    """Return how many times smaller a rate has to be with 16 workers in turn than with one, a number a seed."""
    found = []
    for seed in SEEDS:
        largest = [ns["largest_rate"](workers, seed=seed) for workers in (1, 2, 4, 8, WORKERS)]
        print(f"  seed {seed}: largest rates {' '.join(f'{rate:.3f}' for rate in largest)}", flush=True)
        found.append(largest[0] / largest[-1])
    return told("largest rate, 1 worker over 16 in turn", found, 1)


def messages(ns: Names) -> list[float]:
    """Print accuracy and messages of the decentralised ways; return the accuracy that 16 local steps gain."""
    print(f"accuracy of the mean after {SECONDS} virtual seconds")
    ends: Found = {}
    tried: dict[str, Callable[[int], Any]] = {
        "synchronous": lambda seed: ns["local_sgd"](1, seed=seed),
        "local, 4 steps": lambda seed: ns["local_sgd"](4, seed=seed),
        "local, 16 steps": lambda seed: ns["local_sgd"](16, seed=seed),
        "DiLoCo, 4 steps": lambda seed: ns["local_sgd"](4, 0.7, 0.5, seed=seed),
        "elastic, 4 steps": lambda seed: ns["elastic"](4, seed=seed),
        "gossip, ring": lambda seed: ns["gossip"]([(a, (a + 1) % WORKERS) for a in range(WORKERS)], seed=seed),
    }
    for name, run in tried.items():
        runs = [run(seed) for seed in SEEDS]
        ends[name] = told(name, [float(found[2][-1]) for found in runs], 3)
        told(f"{name}, messages", [float(found[1][-1]) for found in runs], 0)
    return [b - a for a, b in zip(ends["synchronous"], ends["local, 16 steps"], strict=True)]


def levels(ns: Names) -> list[float]:
    """Return the accuracy that is lost by sending every fourth gradient's mean only to the upper server.

    Each side at the best of its rates, by the mean over the seeds, as in the lab's Experiment 4.
    """
    shares: dict[tuple[int, float], list[float]] = {}
    for seed in SEEDS:
        events = ns["simulate"](ns["seconds_of"](WORKERS, 250, seed), ns["always"])
        for every in (1, 4, 16):
            for rate in RATES:
                server = ns["Machines"](every, every * rate / WORKERS, seed)
                curve = ns["replay"](events, server, SECONDS, seed)[1]
                shares.setdefault((every, rate), []).append(float(curve[-3:].mean()))
    for (every, rate), values in shares.items():
        told(f"two levels, {every} in a mean, rate {rate:g} / 16", values, 3)
    alone, fours = (max((shares[every, rate] for rate in RATES), key=np.mean) for every in (1, 4))
    return [a - b for a, b in zip(alone, fours, strict=True)]


def policies(ns: Names) -> None:
    """Print the accuracies of the open task's three ways over its five seeds."""
    for name, rule in {
        "synchronous": partial(ns["within"], slack=0),
        "asynchronous": partial(ns["within"], slack=math.inf),
        "my rule": ns["my_rule"],
    }.items():
        shares = []
        for seed in range(5):
            mine = ns["seconds_of"](WORKERS, 200, seed)
            mine[3] *= 2
            events = ns["simulate"](mine, rule)
            curve = ns["replay"](events, ns["Server"](ns["start"](seed), 0.5 / 16), SECONDS, seed)[1]
            shares.append(float(curve[-3:].mean()))
        told(f"open task, {name}", shares, 3)


def card(cards: Path, name: str, claim: str, values: list[float], **about: Any) -> None:
    """Write a card of one number a seed."""
    result_card(claim, **mean_of(values), lab=LAB, path=cards / f"{name}.json", **about)


def write_speeds(cards: Path, speeds: Found, reached: Found) -> None:
    """Write the cards of waiting and not waiting, in virtual time."""
    asynchronous = "D: asynchronous descent is currently the main method"
    card(
        cards,
        "asynchronous",
        "gradients a second, asynchronous over synchronous, 16 workers with delays",
        ratio(speeds, "delays, asynchronous", "delays, synchronous"),
        unit="x",
        source=asynchronous,
        kind="modelled",
        note="In virtual time: 1 s a step, one step in twenty delayed by 3 s on average. Where all workers are alike: "
        f"{np.mean(ratio(speeds, 'alike, asynchronous', 'alike, synchronous')):.2f}.",
    )
    card(
        cards,
        "backup",
        "gradients a second, waiting for 14 of 16 workers over waiting for all",
        ratio(speeds, "delays, 14 of 16", "delays, synchronous"),
        unit="x",
        source="D, figure 14: synchronous with backup workers",
        kind="modelled",
        note="In virtual time, with the same delays; the gradients of the two slowest are thrown away.",
    )
    for cluster, words in (("delays", "with delays"), ("alike", "all alike")):
        card(
            cards,
            f"to_85_{cluster}",
            f"virtual seconds to 85 % accuracy, synchronous over asynchronous, 16 workers {words}",
            ratio(reached, f"{cluster}, synchronous", f"{cluster}, asynchronous"),
            unit="x",
            source=asynchronous if cluster == "delays" else "B, slide 8: research is converging to MPI",
            kind="modelled",
            note="The better of two rates for each; 14 of 16: "
            f"{np.mean(ratio(reached, f'{cluster}, synchronous', f'{cluster}, 14 of 16')):.2f}. Validation images.",
        )


def write_learning(cards: Path, found: Found) -> None:
    """Write the cards of staleness, and of messages."""
    card(
        cards,
        "rate",
        "how many times smaller the largest rate is with 16 workers in turn than with one",
        found["rates"],
        unit="x",
        source="B, slide 16: trades statistical for hardware performance",
        note="Staleness 15 against 0; for a parabola theory says 19.7. With the full rate of 0.5 accuracy is "
        f"{np.mean(found['full']):.2f}, with 0.5 / (1 + staleness) {np.mean(found['aware']):.2f} (validation images).",
    )
    card(
        cards,
        "local_steps",
        "accuracy gained in the same virtual time by 16 local steps between two messages",
        found["local"],
        source="B, slide 17: the frequency of exchange can be controlled while still attaining convergence",
        note="Against an average at every step, with nine times the messages: a delay hides among sixteen steps. "
        "Validation images.",
    )
    card(
        cards,
        "levels",
        "accuracy lost by a server on two levels that sends a fourth of the messages",
        found["levels"],
        source="B, slide 15, and C: hierarchical parameter server",
        note="Four machines of four asynchronous workers; the best of six rates for each. Validation images.",
    )


if __name__ == "__main__":
    main()
