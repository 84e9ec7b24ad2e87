"""Prints the numbers behind lab 10: search methods over ten seeds, efficiency, ensembles, optimism, and 300 epochs.

python -m benchmarks.lab10 [--cards]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, mean_and_spread, mean_of, median_and_range, solution
from labkit import result_card

LAB = "10_search"
WORKERS, TRIALS = 64, 1024
ROUNDS = 7
Names = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = folder(LAB) / "cards" if parser.parse_args().cards else None
    ns = solution(LAB, also=("stack", "misread", "swarm_loss"))
    found: dict[str, Any] = {
        "efficiency": efficiencies(ns),
        "dask": two_workers(ns),
        "grid": grid_against_random(ns),
        "halving": halving(ns),
        "population": populations(ns),
        "evolution": evolution(ns),
        "swarm": swarm(ns),
        "ensemble": ensembles(ns),
        "optimism": optimism(ns),
    }
    open_task(ns)
    if cards:
        cards.mkdir(exist_ok=True)
        scaling_cards(cards, found["efficiency"], found["dask"])
        search_cards(cards, found)
        many_cards(cards, found)


def told(title: str, values: Sequence[float], digits: int = 3) -> list[float]:
    print(f"{title}: {mean_and_spread(values, digits)}, {median_and_range(values, digits)}")
    return list(values)


def efficiencies(ns: Names) -> list[float]:
    """Return the efficiency of 64 workers over 1024 trials in virtual time, ten drawings of measured durations."""
    seconds = [ns["run_trial"](trial)["seconds"] for trial in range(64)]
    share = []
    for seed in SEEDS:
        some = np.random.default_rng(seed).choice(seconds, TRIALS)
        share.append(ns["efficiency"](list(some), WORKERS))
    few = [ns["efficiency"](list(np.random.default_rng(s).choice(seconds, 256)), WORKERS) for s in SEEDS]
    told("efficiency of 64 workers, 256 trials", few)
    return told(f"efficiency of {WORKERS} workers, {TRIALS} trials", share)


def two_workers(ns: Names) -> list[float]:
    """Return how many times as many trials a second two Dask workers do as one, a number a round."""
    ratios = []
    with ns["dask_cluster"]() as (client, _):
        names = list(client.scheduler_info(n_workers=-1)["workers"])
        for turn in range(ROUNDS + 1):
            took = []
            for chosen in (names[:1], names):
                start = time.perf_counter()
                client.gather(client.map(ns["run_trial"], range(48), pure=False, workers=chosen))
                took.append(time.perf_counter() - start)
            if turn:  # the first round brings code and data along
                ratios.append(took[0] / took[1])
    return told("trials a second, two workers over one", ratios, 2)


def grid_against_random(ns: Names) -> list[float]:
    """Return the best loss of a shifted grid of 16 trials over that of 16 random ones."""
    ratios = []
    plane = {"rate": ("log", 1e-4, 10.0), "decay": ("log", 1e-9, 1e-6)}
    for seed in SEEDS:
        shift = np.random.default_rng(seed).random(2)
        axes = [a * (b / a) ** ((np.arange(4) + s) / 4) for (_, a, b), s in zip(plane.values(), shift, strict=True)]
        grid = [{"rate": rate, "decay": decay} for rate in axes[0] for decay in axes[1]]
        chance = [ns["configuration"](plane, seed, trial) for trial in range(16)]
        best = [min(ns["Run"](config).advance(9) for config in some) for some in (grid, chance)]
        ratios.append(best[0] / best[1])
    return told("best loss of a shifted grid over that of random search, 16 trials", ratios)


def halving(ns: Names) -> tuple[float, list[float]]:
    """Return how many times fewer epochs halving takes, and the place of its winner among 27 trained to the end."""
    places, saved = [], 0.0
    for seed in SEEDS:
        runs, full = (
            [ns["Run"](ns["configuration"](ns["SPACE"], seed, t), [seed, t]) for t in range(27)] for _ in "ab"
        )
        rungs = ns["successive_halving"](list(range(27)), lambda t, n, runs=runs: runs[t].advance(n), 1, 27)
        saved = 27 * 27 / sum(run.epochs for run in runs)
        final = np.nan_to_num([run.advance(27) for run in full], nan=np.inf)
        places.append(float((final < final[rungs[-1][0][0]]).sum() + 1))
    print(f"epochs of all over epochs of halving: {saved:g}")
    return saved, told("the winner's place among 27", places, 1)


def populations(ns: Names) -> list[float]:
    """Return the best loss of a population over the best of the same networks without exploiting."""
    ratios = []
    for seed in SEEDS:
        one, other = (
            np.nanmin(ns["train_population"](seed, step=step)[-1][1])
            for step in (ns["population_step"], lambda members, draw: (members, list(range(len(members)))))
        )
        ratios.append(float(one / other))
    return told("best loss of a population over each alone", ratios)


def evolution(ns: Names) -> list[float]:
    """Return the mean loss of evolution's last 30 architectures over that of 30 at random."""
    ratios = []
    for seed in SEEDS:
        search = ns["make_search"](seed)
        history = ns["evolve"](*search, 12, 6, 68, np.random.default_rng(seed))
        new, _, fitness = ns["make_search"](seed + 100)
        random = [fitness(new()) for _ in range(30)]
        ratios.append(float(np.mean([fit for _, fit, _ in history[-30:]]) / np.mean(random)))
    return told("mean loss, evolution's last 30 over random", ratios)


def swarm(ns: Names) -> list[float]:
    """Return the lowest loss that a swarm's 64 trials find over that of 64 random points."""
    ratios = []
    for seed in SEEDS:
        draw = np.random.default_rng(seed)
        x, v = draw.random((8, 2)), np.zeros((8, 2))
        best_x, best = x.copy(), np.full(8, np.inf)
        for _ in range(8):
            loss = np.array([ns["swarm_loss"](point) for point in x])
            best_x, best = np.where((loss < best)[:, None], x, best_x), np.minimum(loss, best)
            x, v = ns["pso_step"](x, v, best_x, best, draw)
        ratios.append(float(best.min() / min(ns["swarm_loss"](point) for point in draw.random((64, 2)))))
    return told("lowest loss of a swarm over random search", ratios)


def ensembles(ns: Names) -> list[float]:
    """Return a member's mean test error over that of an ensemble of 16."""
    ratios = []
    for seed in SEEDS:
        crowd = [ns["Run"]({"rate": 0.3, "width": 16}, [seed, member]) for member in range(16)]
        for run in crowd:
            run.advance(15)
        networks = [run.layers for run in crowd]
        single = np.mean([ns["loss_and_error"](layers, ns["TEST"])[1] for layers in networks])
        joined = ns["misread"](ns["ensemble_predict"](ns["stack"](networks), ns["TEST"][0]))
        ratios.append(float(single / joined))
    return told("test error of a member over that of 16 together", ratios, 2)


def optimism(ns: Names) -> list[float]:
    """Return test error minus validation error, in points, of the best of 60 equal networks, for ten sets of them."""
    points = []
    for seed in SEEDS:
        wrong = []
        for member in range(60):
            run = ns["Run"]({"rate": 0.3}, [1000 + seed, member])
            run.advance(9)
            wrong.append(ns["run_layers"](run.layers, ns["X"])[1].argmax(axis=1) != ns["Y"])
        draw, gaps = np.random.default_rng(seed), []
        for _ in range(100):
            seen, _, test = np.split(draw.permutation(len(ns["Y"])), [100, 359])
            errors = np.array([(one[seen].mean(), one[test].mean()) for one in wrong])
            chosen = errors[errors[:, 0].argmin()]
            gaps.append(100 * (chosen[1] - chosen[0]))
        points.append(float(np.mean(gaps)))
    return told("optimism of the best of 60, points", points, 2)


def open_task(ns: Names) -> None:
    """Print test errors of ways to spend 300 epochs, on seeds 0 to 4, among which one was chosen, and on 10 to 19."""
    ways: list[tuple[str, Callable[[int], float]]] = [("a guessed rate", lambda seed: trained(ns, {"rate": 0.1}, seed))]
    for trials in (27, 54):
        ways.append((f"halving {trials}, the rest for its winner", partial(mixture, ns, trials, 0)))
        ways += [(f"halving {trials}, {m} like its winner", partial(mixture, ns, trials, m)) for m in (3, 5, 8)]
    for name, error in ways:
        for seeds in (range(5), range(10, 20)):
            spread = mean_and_spread([100 * error(seed) for seed in seeds], 1)
            print(f"300 epochs, {name}, seeds {seeds[0]} to {seeds[-1]}: {spread} %")


def trained(ns: Names, config: Names, seed: int) -> float:
    (run := ns["Run"](config, seed)).advance(300)
    return float(ns["loss_and_error"](run.layers, ns["TEST"])[1])


def mixture(ns: Names, trials: int, members: int, seed: int) -> float:
    """Return the error of halving's winner, trained on, or of an ensemble of new networks with its configuration."""
    runs = [ns["Run"](ns["configuration"](ns["SPACE"], 100 + seed, t), [seed, t]) for t in range(trials)]
    rungs = ns["successive_halving"](list(range(trials)), lambda t, n: runs[t].advance(n), 1, 27)
    winner = runs[min(rungs[-1], key=lambda pair: (np.isnan(pair[1]), pair[1]))[0]]
    crowd = [ns["Run"](winner.config, [50 + seed, k]) for k in range(members)] or [winner]
    left = 300 - sum(run.epochs for run in runs)
    for run in crowd:
        run.advance(left // len(crowd))
    return float(ns["misread"](ns["ensemble_predict"](ns["stack"]([run.layers for run in crowd]), ns["TEST"][0])))


def scaling_cards(cards: Path, share: list[float], ratios: list[float]) -> None:
    result_card(
        f"hyperparameter search scales (efficiency of {WORKERS} workers over {TRIALS} trials, virtual time)",
        **mean_of(share),
        lab=LAB,
        seed_value=1,
        source="A: zero dependencies, and this will scale; D: models of different hyperparameters in parallel",
        note="Measured processor time of 64 trials, drawn again; no message is modelled, as a trial follows from its "
        "number. What is lost is lost while the last trials run.",
        kind="modelled",
        path=cards / "efficiency.json",
    )
    result_card(
        "two workers do twice the trials of one (trials a second, Dask, processes on one machine of two cores)",
        value=float(np.median(ratios)),
        spread=float(np.std(ratios)),
        n=len(ratios),
        lab=LAB,
        unit="x",
        seed_value=2,
        source="A: zero dependencies, and this will scale",
        note="Real seconds; scheduler and notebook take part of the same two cores, and so did other programs.",
        path=cards / "dask.json",
    )


def search_cards(cards: Path, found: dict[str, Any]) -> None:
    saved, places = found["halving"]
    result_card(
        "successive halving takes fewer epochs than training all 27 to the end",
        saved,
        unit="x",
        lab=LAB,
        kind="counted",
        note=f"Its winner is number {np.mean(places):.1f} of 27 in the mean of ten searches.",
        path=cards / "halving.json",
    )
    result_card(
        "a grid wastes trials where a dimension does not matter (best loss of a grid over random search, 16 trials)",
        **mean_of(found["grid"]),
        lab=LAB,
        unit="x",
        note="The grid is shifted by chance: lucky ones are as good as random search.",
        path=cards / "grid.json",
    )
    result_card(
        "population-based training finds a schedule (best loss of 16 networks over the same without exploiting)",
        **mean_of(found["population"]),
        lab=LAB,
        unit="x",
        source="B: population-based training (Jaderberg et al. 2017) to optimise hyperparameters",
        note="B gives no number. Twelve rounds of two epochs, validation loss.",
        path=cards / "population.json",
    )


def many_cards(cards: Path, found: dict[str, Any]) -> None:
    result_card(
        "aging evolution learns where to look (mean loss of its last 30 architectures over 30 at random)",
        **mean_of(found["evolution"]),
        lab=LAB,
        unit="x",
        source="B: genetic algorithms with specialised mutations (Real et al. 2018)",
        note="B gives no number. 80 architectures; the best of as many at random is about as good in so small a space.",
        path=cards / "evolution.json",
    )
    result_card(
        "an ensemble errs less than its members (test error of one over that of 16)",
        **mean_of(found["ensemble"]),
        lab=LAB,
        unit="x",
        source="D: models trained in parallel as an ensemble, their outputs aggregated",
        note="D gives no number. Small networks, 15 epochs; larger ones trained for longer gain little.",
        path=cards / "ensemble.json",
    )
    result_card(
        "the best of 60 equal networks looks better than it is (test error minus the error it was chosen by)",
        **mean_of(found["optimism"]),
        lab=LAB,
        unit="points",
        source="B: do not hide the runs that tuning took",
        note="B gives no number. They differ by their seed only; 100 images choose, 360 judge.",
        path=cards / "optimism.json",
    )


if __name__ == "__main__":
    main()
