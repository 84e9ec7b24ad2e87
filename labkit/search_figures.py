"""The figures of lab 10: workers' time, rungs of successive halving, a population's family tree, a swarm's flight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from labkit._figure import PALETTE, axes, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["best_line", "family", "gantt", "rungs", "swarm"]

Round = tuple[Sequence[float], Sequence[float], Sequence[int]]
"""A round of a population: each member's rate, its loss, and the place from which its weights come afterwards."""


def gantt(ax: Axes, durations: Sequence[float], plan: Sequence[tuple[int, float]], *, title: str) -> Axes:
    """Draw a bar with its number for each trial; `plan` has (worker, start) of each. What stays grey is waiting."""
    workers = range(1 + max(worker for worker, _ in plan))
    end = max(start + took for took, (_, start) in zip(durations, plan, strict=True))
    axes(ax, title=f"{title}: {end:.1f} ms", xlabel="virtual milliseconds")
    ax.grid(visible=False)
    ax.barh(workers, end, color="0.8")
    for trial, (took, (worker, start)) in enumerate(zip(durations, plan, strict=True)):
        ax.barh(worker, took, left=start, color=PALETTE[0], ec="white")
        ax.text(start + took / 2, worker, str(trial), ha="center", va="center", size=8, color="white")
    ax.set_yticks(workers, [f"worker {worker}" for worker in workers])
    ax.set_ylim(len(workers) - 0.4, -0.6)
    ax.margins(x=0.02)
    return finish(ax)


def rungs(halving: Sequence[Sequence[tuple[int, float]]], curves: ArrayLike, rates: Sequence[float]) -> Axes:
    """Draw how far each trial was trained on rungs of 1, 3, 9, ... epochs, and how far it would have come.

    curves: each trial's losses, trained to the end, shape (trials, epochs).
    """
    losses = np.asarray(curves, float)
    most = losses.shape[1]
    ax = axes(None, title="Rungs: who was trained how far", xlabel="epochs", ylabel="validation loss", size=(7.5, 4.2))
    ax.grid(visible=False)
    ax.plot(range(1, most + 1), losses.T, color="0.7", lw=0.8)
    ax.plot([], color="0.7", lw=0.8, label="not trained by halving")
    reached = {trial: k for k, rung in enumerate(halving) for trial, _ in rung}
    for k, rung in enumerate(halving):
        look: dict[str, Any] = {"color": PALETTE[k], "lw": 1 + k / 2, "marker": "."}
        ended = [trial for trial, last in reached.items() if last == k]
        for trial in ended:
            ax.plot(range(1, 3**k + 1), losses[trial, : 3**k], **look)
        ax.axvline(3**k, color="black", lw=0.5, ls=":")
        said = f"{3**k} epoch{'s' * (k > 0)}: "
        last = k == len(halving) - 1
        ax.plot([], label=said + ("the winner" if last else f"{len(ended)} of {len(rung)} dropped"), **look)
    if (lost := _wronged(reached, losses[:, -1])) is not None:
        since = 3 ** reached[lost]
        label = f"wronged: trial {lost}, rate {rates[lost]:.2g}"
        ax.plot(range(since, most + 1), losses[lost, since - 1 :], color="black", lw=1.4, ls="--", label=label)
    ax.set(xscale="log", ylim=(0, 3.6))
    ax.set_xticks(ticks := [3**k for k in range(len(halving))], ticks)
    ax.minorticks_off()
    return finish(ax, legend=True)


def _wronged(reached: Mapping[int, int], losses: ArrayLike) -> int | None:
    """Return the best trial, if any, that was dropped and at last lies below one that went on further."""
    final = np.nan_to_num(np.asarray(losses, float), nan=np.inf)
    for trial in sorted(reached, key=lambda t: float(final[t])):
        if any(final[other] > final[trial] and k > reached[trial] for other, k in reached.items()):
            return trial
    return None


def best_line(history: Sequence[Round]) -> list[int]:
    """Return the place in each round of the ancestors of the last round's best member, and its own."""
    return _line(history, int(np.nanargmin(history[-1][1])))


def _line(history: Sequence[Round], place: int) -> list[int]:
    line = [place]
    for _, _, parents in history[-2::-1]:  # what the last round copies is not trained any more
        line.append(int(parents[line[-1]]))
    return line[::-1]


def family(history: Sequence[Round]) -> Axes:
    """Draw a population's rounds from left to right: a row a place, sorted by the rate that it began with."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    first = np.asarray(history[0][0], float)
    row = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    x = np.arange(1, len(history) + 1)
    ax = axes(None, title="A population's family tree", xlabel="round of two epochs", size=(7.5, 4.4))
    ax.grid(visible=False)
    for turn, (_, _, parents) in enumerate(history[:-1], start=1):
        for place, parent in enumerate(parents):
            ax.plot([turn, turn + 1], row[[parent, place]], color="0.75", lw=0.8, zorder=1)
    for place in range(len(first)):
        ax.plot(x, row[_line(history, place)], color="0.35", lw=2.2, zorder=2)
    ax.plot(x, row[best_line(history)], color=PALETTE[1], lw=3.2, zorder=3, label="ancestors of the best")
    ax.plot([], color="0.35", lw=2.2, label="of others at the end")
    ax.plot([], color="0.75", lw=0.8, label="no descendants")
    rates = np.array([rates for rates, _, _ in history], float)
    at = np.broadcast_to(x[:, None], rates.shape), np.broadcast_to(row, rates.shape)
    late = rates[len(rates) // 4 :]  # at first there are rates that soon have no descendants
    norm = LogNorm(late.min(), late.max())
    dots = ax.scatter(*at, c=rates, norm=norm, cmap="viridis", s=30, ec="white", lw=0.5, zorder=4)
    ticks = [tick for tick in (0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2) if late.min() <= tick <= late.max()]
    bar = plt.colorbar(dots, ax=ax, label="learning rate", pad=0.02, extend="both")
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    shown = np.argsort(first, kind="stable")[:: max(1, len(first) // 5)]
    ax.set_yticks(row[shown], [f"{first[place]:.2g}" for place in shown])
    ax.set(ylabel="a row a member: its rate at the start", xticks=x, xlim=(0.6, len(history) + 0.4))
    ax.legend(frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    return finish(ax)


def swarm(ax: Axes, places: ArrayLike, points: ArrayLike, losses: ArrayLike) -> Axes:
    """Draw the flight of particles over random points of two dimensions with logarithmic axes.

    places: shape (steps, particles, 2); points: shape (n, 2), and their losses, shape (n,), which shade them.
    """
    flown, drawn, shades = (np.asarray(values, float) for values in (places, points, losses))
    axes(ax, title="A swarm's flight", logx=True, logy=True)
    dots = ax.scatter(drawn[:, 0], drawn[:, 1], c=np.minimum(shades, math.log(10)), cmap="Greys_r", s=14, alpha=0.6)
    dots.set_label("random points: dark is a low loss")
    for particle in flown.swapaxes(0, 1):
        ax.plot(*particle.T, color=PALETTE[1], lw=0.7, alpha=0.8)
    ax.scatter(
        flown[0, :, 0],
        flown[0, :, 1],
        marker="o",
        facecolors="none",
        edgecolors=PALETTE[1],
        s=28,
        zorder=3,
        label="start",
    )
    ax.scatter(
        flown[-1, :, 0],
        flown[-1, :, 1],
        marker="s",
        color=PALETTE[0],
        s=28,
        zorder=3,
        label=f"after {len(flown) - 1} steps",
    )
    ax.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return finish(ax)
