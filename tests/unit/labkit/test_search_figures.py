"""Lab 10's figures: what they draw, seen on the axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from labkit import plot, search_figures

HISTORY = [
    ([0.01, 1.0, 0.1, 2.0], [2.0, 1.0, 1.5, 3.0], [1, 1, 2, 3]),
    ([0.8, 1.0, 0.1, 2.0], [0.9, 0.8, 1.4, 3.0], [0, 1, 2, 1]),
    ([0.8, 1.0, 0.1, 1.25], [0.7, 0.75, 1.3, 0.5], [0, 1, 3, 3]),
]


@pytest.fixture(autouse=True)
def _no_figure_is_left() -> Iterator[None]:
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_a_gantt_chart_has_a_bar_a_trial_behind_which_waiting_is_grey() -> None:
    ax, _ = plot.panels(2, stacked=True)
    search_figures.gantt(ax, [3, 1, 1, 2], [(0, 0), (1, 0), (1, 1), (1, 2)], title="Mine")
    assert ax.get_title(loc="left") == "Mine: 4.0 ms"
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "3"]
    bars = [bar.get_window_extent().width for bar in ax.patches]
    assert np.allclose(np.divide(bars, bars[0]), [1, 1, 0.75, 0.25, 0.25, 0.5])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["worker 0", "worker 1"]


def test_rungs_say_how_many_were_dropped_and_whom_it_wronged() -> None:
    halving = [[(0, 3.0), (1, 2.0), (2, 1.0)], [(2, 0.9)]]
    curves = np.array([[3.0, 2.0, 0.1], [2.0, 1.5, 1.0], [1.0, 0.95, 0.9]])
    ax = search_figures.rungs(halving, curves, rates=[0.5, 0.1, 0.2])
    _, names = ax.get_legend_handles_labels()
    assert names == [
        "not trained by halving",
        "1 epoch: 2 of 3 dropped",
        "3 epochs: the winner",
        "wronged: trial 0, rate 0.5",
    ]


def test_rungs_name_nobody_where_the_right_ones_went_on_and_diverged_ones_are_worst() -> None:
    halving = [[(0, np.nan), (1, 2.0), (2, 1.0)], [(2, 0.9)]]
    curves = np.array([[np.nan] * 3, [2.0, 1.5, 1.0], [1.0, 0.95, 0.9]])
    ax = search_figures.rungs(halving, curves, rates=[5.0, 0.1, 0.2])
    assert not any("wronged" in name for name in ax.get_legend_handles_labels()[1])


def test_the_best_ones_ancestors_are_found_from_the_last_round_on() -> None:
    assert search_figures.best_line(HISTORY) == [1, 1, 3]
    assert search_figures.best_line(HISTORY[:1]) == [1]


def test_a_family_tree_has_a_row_a_place_in_the_order_of_the_first_rates() -> None:
    ax = search_figures.family(HISTORY)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0.01", "0.1", "1", "2"]
    best = next(line for line in ax.lines if line.get_label() == "ancestors of the best")
    assert np.array_equal(best.get_ydata(), [2, 2, 3])  # places 1, 1 and 3
    assert len(ax.collections[0].get_offsets()) == 12  # type: ignore[arg-type]


def test_a_swarm_has_a_path_a_particle_above_the_random_points() -> None:
    left, _ = plot.panels(2)
    places = 10.0 ** np.random.default_rng(0).uniform(-1, 1, (4, 3, 2))
    search_figures.swarm(left, places, 10.0 ** np.zeros((5, 2)), np.arange(5.0))
    assert len(left.lines) == 3
    names = left.get_legend_handles_labels()[1]
    assert names == ["random points: dark is a low loss", "start", "after 3 steps"]
