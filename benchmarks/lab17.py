"""Prints the numbers behind lab 17: accuracies with and without the graph, analogies, two splits; writes its cards.

python -m benchmarks.lab17 [--cards]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import SEEDS, folder, mean_and_spread, mean_of, median_and_range, solution
from labkit import result_card

LAB = "17_code_embeddings"
EXPLORED = (
    *("understood", "collect", "pairs_of", "train_vectors", "two_values", "analogies", "bags", "two_splits"),
    *("Reader", "read", "arrays_of", "shuffled", "bags_with_edges", "shuffles", "compare"),
)
GRAPH, BAG = "vectors and graph", "bag of statements"

Accuracies = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = folder(LAB) / "cards" if parser.parse_args().cards else None
    ns = solution(LAB, also=EXPLORED)
    found, right = comparisons(ns)
    splits = two_splits(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        write_graph(cards, found)
        write_beside(cards, found, right, splits)


def comparisons(ns: dict[str, Any]) -> tuple[Accuracies, list[list[float]]]:
    """Print and return each way's accuracies, and the shares of analogies that are right: learned, drawn."""
    found: Accuracies = {}
    right: list[list[float]] = [[], []]
    print(f"test accuracy on 300 programs after 200 with labels, {len(SEEDS)} seeds")
    for seed in SEEDS:
        ways, shares = ns["compare"](seed)
        for name, accuracy in ways.items():
            found.setdefault(name, []).append(accuracy)
        for kept, share in zip(right, shares, strict=True):
            kept.append(share)
    for name, accuracies in found.items():
        beaten = sum(np.greater(found[GRAPH], accuracies))
        below = "" if name == GRAPH else f"; below {GRAPH} in {beaten} of {len(SEEDS)}"
        print(f"  {name:21} {median_and_range(accuracies)}, mean {mean_and_spread(accuracies)}{below}")
    for title, shares in zip(("learned on the graph", "drawn at random"), right, strict=True):
        print(f"analogies that hold, vectors {title}: {median_and_range(shares)}")
    return found, right


def two_splits(ns: dict[str, Any]) -> list[list[float]]:
    """Print and return a bag's accuracies, versions split by row and by program, and the static guess."""
    words = ns["vocabulary"](ns["collect"](range(600)))
    found = np.array([ns["two_splits"](words, seed) for seed in SEEDS]).T
    titles = ("bag, split by row", "bag, split by program", "static guess, split by program")
    for title, accuracies in zip(titles, found, strict=True):
        print(f"five versions of 60 programs, {title}: {median_and_range(accuracies)}, mean {np.mean(accuracies):.3f}")
    return [accuracies.tolist() for accuracies in found]


def card(path: Path, claim: str, values: NDArray[np.float64], source: str, note: str, kind: str = "measured") -> None:
    """Write one card: the values' mean and spread."""
    result_card(claim, **mean_of(values), source=source, lab=LAB, note=note, kind=kind, path=path)


def write_graph(cards: Path, found: Accuracies) -> None:
    """Write what is gained by vectors and graph, and what is left without either."""
    graph = np.array(found[GRAPH])
    labels = "Labels counted by a roofline model; 200 programs with labels, 600 without, 300 for the test."
    source = "B, slide 33: predicts which device is faster (CPU or GPU)"
    title = "accuracy gained by inst2vec's way over a bag of statements, new programs"
    note = f"{graph.mean():.3f} against {np.mean(found[BAG]):.3f}. {labels}"
    card(cards / "over_bag.json", title, graph - found[BAG], source, note)
    guess = found["always the same"]
    title = "accuracy gained by inst2vec's way over a static guess, new programs"
    note = f"The guess is right for {np.mean(guess):.3f} of the test's programs."
    card(cards / "over_static.json", title, graph - guess, source, note)
    source = "B, slide 31: the contextual flow graph"
    parts = {name: np.mean(found[f"shuffled for {name}"]) for name in ("vectors", "inputs")}
    note = f"Shuffled for the vectors alone {parts['vectors']:.3f} is left, "
    note += f"for reading alone {parts['inputs']:.3f}, in the test."
    card(cards / "shuffled.json", "accuracy lost by shuffled edges", graph - found["shuffled edges"], source, note)


def write_beside(cards: Path, found: Accuracies, right: list[list[float]], splits: list[list[float]]) -> None:
    """Write what embeddings are worth by themselves, their analogies, and what a split by row pretends."""
    graph = np.array(found[GRAPH])
    source = "B, slide 32: an embedding space, by the skip-gram model"
    edges = np.mean(found["bag of edges"])
    note = f"A bag of edges, which has the graph and no vectors, reaches {edges:.3f} in the test."
    title = "accuracy lost by random embeddings, with the graph"
    card(cards / "random.json", title, graph - found["random vectors"], source, note)
    note = f"Of vectors drawn at random {np.mean(right[1]):.1%} hold. The type is learned, the operation hardly."
    card(cards / "analogies.json", "share of analogies of statements that hold", np.array(right[0]), source, note)
    by_row, by_program, guess = map(np.array, splits)
    title = "accuracy that a split by row adds for a bag of statements"
    note = f"{by_row.mean():.3f} by row, {by_program.mean():.3f} by program, "
    note += f"{guess.mean():.3f} for the static guess there: five versions each of 60 programs; test accuracies."
    card(cards / "by_row.json", title, by_row - by_program, "", note)


if __name__ == "__main__":
    main()
