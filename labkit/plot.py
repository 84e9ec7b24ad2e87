"""Figures in one style: colour-blind safe, readable in grey, SVG in a notebook, shown once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labkit._figure import (
    CLOUDS,
    PALETTE,
    SIZE_IN,
    axes,
    cloud,
    colour_map,
    finish,
    look,
    luminance,
    mark_runs,
    mosaic,
    number,
    side_by_side,
    tick,
    write_beside,
)  # fmt: skip

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PALETTE", "bars", "curves", "images", "matrix", "panels", "scatter"]

_MARKED = 15  # up to this many points a curve shows each of them
_DARK = 0.18  # the luminance on which black and white text stand out alike

_Values: TypeAlias = NDArray[np.float64]
_Points: TypeAlias = dict[str, tuple[_Values, _Values]]


def curves(
    series: Mapping[str, ArrayLike] | ArrayLike,
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    logx: bool = False,
    logy: bool = False,
    spread: Mapping[str, ArrayLike] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw lines: `{"name": y}` or `{"name": (x, y)}`, all of shape (n,); x is 1, 2, ... unless given. NaN is a gap.

    `spread["name"]` shades a band about that line: half its width, shape (n,), or its edges, shape (2, n).

    Raises ValueError for empty data, wrong shapes, or nothing that can be drawn.
    """
    from matplotlib.ticker import MaxNLocator

    lines = _points("plot.curves", series, logx=logx, logy=logy)
    bands = _bands(lines, spread or {})
    ax = axes(ax, title=title, xlabel=xlabel, ylabel=ylabel, logx=logx, logy=logy)
    for i, (name, (x, y)) in enumerate(lines.items()):
        colour, line, mark = look(i)
        shown = mark if x.size <= _MARKED else ""
        ax.plot(x, y, label=name, color=colour, linestyle=line, linewidth=1.8, marker=shown, markersize=4.5)
        if name in bands:
            ax.fill_between(x, *bands[name], color=colour, alpha=0.18, linewidth=0)
    places = np.unique(np.concatenate([x for x, _ in lines.values()]))
    beside = max(map(len, lines)) if len(lines) > 1 else 0  # the legend's names take from the axis' width
    names = [tick(place) for place in places]
    if logx and side_by_side(places, names, width=min(46, 62 - beside)):  # 2, 4, 8, 16 devices
        ax.set_xticks(places, names)
        ax.set_xticks([], minor=True)
    elif not logx and (places == places.round()).all():  # there is no epoch 2.5
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    return finish(ax, legend=len(lines) > 1)


def scatter(
    series: Mapping[str, ArrayLike] | ArrayLike,
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    logx: bool = False,
    logy: bool = False,
    names: Mapping[str, Sequence[object]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw points: `{"name": (x, y)}` with x and y of shape (n,), a colour and a mark for each name.

    `names["name"]`, n short texts, stand beside the points, where none covers another.

    Raises ValueError for empty data, wrong shapes, nothing that can be drawn, or more than 14 names.
    """
    clouds = _points("plot.scatter", series, logx=logx, logy=logy)
    texts = {
        key: _names("plot.scatter", f"names of {key!r}", those, clouds[key][0].size)
        for key, those in (names or {}).items()
    }
    if len(clouds) > CLOUDS:
        raise ValueError(
            f"plot.scatter: {len(clouds)} names, of which {CLOUDS} can be told apart\n"
            "hint: put points that belong together under one name, and say which is which by `names`"
        )
    ax = axes(ax, title=title, xlabel=xlabel, ylabel=ylabel, logx=logx, logy=logy)
    for i, (name, (x, y)) in enumerate(clouds.items()):
        ax.scatter(x, y, label=name, **cloud(i))
    finish(ax, legend=len(clouds) > 1)
    write_beside(
        ax, [(*at, text) for key, those in texts.items() for *at, text in zip(*clouds[key], those, strict=True)]
    )
    return ax


def bars(
    values: Mapping[str, float] | ArrayLike,
    labels: Sequence[object] | None = None,
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    fmt: str | None = None,
    logy: bool = False,
    spread: ArrayLike | None = None,
    runs: Sequence[ArrayLike] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one bar a value, with its number: `{"name": value}`, or values of shape (n,) and n labels.

    `fmt` is a format such as ".1%"; `spread`, shape (n,), draws error bars that reach so far to either side.
    `runs`, for each bar the values that it is made of, are marks on it; the bar's number stands above them.

    Raises ValueError for empty data, wrong shapes, or nothing that can be drawn.
    """
    if isinstance(values, Mapping):
        labels, values = list(values), list(values.values())
    heights = _checked("plot.bars", "values", values, ndim=1, positive=logy)
    names = _names("plot.bars", "labels", labels, heights.size)
    error = None if spread is None else _checked("plot.bars", "spread", spread, ndim=1)
    if error is not None and error.size != heights.size:
        raise ValueError(f"plot.bars: {error.size} values of spread, expected {heights.size}")
    ax = axes(ax, title=title, xlabel=xlabel, ylabel=ylabel, logy=logy)
    drawn = ax.bar(range(heights.size), heights, yerr=error, color=PALETTE[0], ecolor=PALETTE[-1], capsize=3)
    said = [number(height, fmt) for height in heights]
    if runs is None:
        ax.bar_label(drawn, said, padding=2, fontsize=9)
    else:
        mark_runs(ax, heights, runs, said)
    crowded = sum(map(len, names)) > 70
    ax.set_xticks(range(heights.size), names, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    ax.grid(visible=False, axis="x")
    ax.margins(y=0.14)
    return finish(ax)


def matrix(
    m: ArrayLike,
    row_labels: Sequence[object] | None = None,
    column_labels: Sequence[object] | None = None,
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    fmt: str | None = None,
    off_diagonal: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw a table of numbers, shape (rows, columns), darker where they are larger; NaN leaves a cell grey.

    With `off_diagonal` only the cells off the diagonal are coloured: the mistakes in a confusion matrix.

    Raises ValueError for empty data, wrong shapes, or nothing but NaN.
    """
    cells = _checked("plot.matrix", "m", m, ndim=2)
    rows = _names("plot.matrix", "row_labels", row_labels, cells.shape[0])
    columns = _names("plot.matrix", "column_labels", column_labels, cells.shape[1])
    size = (float(np.clip(1.5 + 0.7 * len(columns), 4, SIZE_IN[0])), 1.0 + 0.36 * len(rows))
    ax = axes(ax, title=title, xlabel=xlabel, ylabel=ylabel, size=size)
    plain = np.isnan(cells)
    if off_diagonal:
        np.fill_diagonal(plain, True)
    drawn = ax.imshow(np.ma.array(cells, mask=plain), cmap=colour_map("Blues", bad="#EEEEEE"), aspect="auto")
    for at, value in np.ndenumerate(cells):
        dark = not plain[at] and luminance(drawn.to_rgba(np.array(value))) < _DARK
        text = "" if np.isnan(value) else number(value, fmt)
        ax.text(at[1], at[0], text, ha="center", va="center", fontsize=9, color="white" if dark else "black")
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(len(columns)), columns)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return finish(ax)


def images(
    array: ArrayLike,
    titles: Sequence[object] | None = None,
    *,
    title: str = "",
    columns: int | None = None,
    signed: bool = False,
    cmap: str | None = None,
    tile_in: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw images, shape (n, height, width) or (n, height, width, 3), in a grid and all on one scale.

    `signed` is for weights: blue below zero, white at zero, red above, with a colour bar.
    `tile_in` is an image's width in inches; without it six or more in a row fill the page.

    Raises ValueError for empty data, wrong shapes, nothing but NaN, or colours outside of [0, 1].
    """
    pictures = _checked("plot.images", "array", array, ndim=4 if np.ndim(array) == 4 else 3)
    low, high = min(0.0, float(np.nanmin(pictures))), float(np.nanmax(pictures))
    if pictures.ndim == 4 and (pictures.shape[3] != 3 or low < 0 or high > 1):
        raise ValueError(f"plot.images: shape {pictures.shape}, values {low:g} to {high:g}; colours are 3, from 0 to 1")
    names = [] if titles is None else _names("plot.images", "titles", titles, len(pictures))
    columns = columns or min(len(pictures), 10)
    tile_in = tile_in or (SIZE_IN[0] - signed * 0.8) / max(columns, 6)
    head = int(np.ceil(0.22 / tile_in * pictures.shape[2])) if names else 0  # pixels that a line of text takes
    sheet = mosaic(pictures, columns, head)
    size = (sheet.shape[1], sheet.shape[0]) * np.array(tile_in / pictures.shape[2]) + (signed * 0.8, bool(title) * 0.3)
    ax = axes(ax, title=title, size=(size[0], size[1]))
    low, high = (-max(high, -low), max(high, -low)) if signed else (low, high)
    colours = colour_map(cmap or ("RdBu_r" if signed else "gray"), bad="white")
    # Without interpolation the SVG holds the pixels themselves.
    drawn = ax.imshow(sheet, cmap=colours, vmin=low, vmax=high, interpolation="none")
    for i, name in enumerate(names):
        row, column = divmod(i, columns)
        x, y = column * (pictures.shape[2] + 1), row * (pictures.shape[1] + 1 + head) + head
        ax.text(x + pictures.shape[2] / 2 - 0.5, y - 0.8, name, ha="center", va="bottom", fontsize=9)
    if signed:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
    ax.set_axis_off()
    return finish(ax)


def panels(count: int, *, stacked: bool = False) -> list[Axes]:
    """Return empty axes side by side, or stacked and wider, each to be given to a function above as `ax`."""
    import matplotlib.pyplot as plt

    rows, size = (1, (max(SIZE_IN[0], 3.0 * count), SIZE_IN[1])) if not stacked else (count, (9.0, 2.5 * count))
    drawn = plt.subplots(rows, count // rows, figsize=size, layout="constrained", squeeze=False)[1]
    return [finish(ax) for ax in drawn.flat]


def _checked(where: str, what: str, values: ArrayLike, *, ndim: int, positive: bool = False) -> _Values:
    """Return the values as an array with `ndim` axes that has something to draw."""
    array = np.asarray(values, float)
    if array.ndim != ndim:
        raise ValueError(f"{where}: {what} has shape {array.shape}, expected {ndim} axes")
    if not array.size:
        raise ValueError(f"{where}: {what} is empty (shape {array.shape})")
    if not np.isfinite(array).any():
        raise ValueError(f"{where}: {what} holds no finite number")
    if positive and not (array > 0).any():
        raise ValueError(f"{where}: {what} holds nothing above zero\nhint: draw it without a logarithmic axis")
    return array


def _points(where: str, series: Mapping[str, ArrayLike] | ArrayLike, *, logx: bool, logy: bool) -> _Points:
    """Return x and y of each series."""
    named: Mapping[str, Any] = series if isinstance(series, Mapping) else {"values": series}
    if not named:
        raise ValueError(f"{where}: nothing to draw")
    points: _Points = {}
    for name, given in named.items():
        pair = isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) > 0
        y = _checked(where, repr(name), given[1] if pair else given, ndim=1, positive=logy)
        x = _checked(where, f"x of {name!r}", given[0] if pair else np.arange(1, y.size + 1), ndim=1, positive=logx)
        if x.size != y.size:
            raise ValueError(f"{where}: {name!r} has {x.size} values of x but {y.size} of y")
        points[name] = (x, y)
    return points


def _bands(points: _Points, spread: Mapping[str, ArrayLike]) -> dict[str, _Values]:
    """Return the lower and the upper edge of each band, shape (2, n)."""
    bands = {}
    for name, given in spread.items():
        if name not in points:
            raise ValueError(f"plot.curves: spread names {name!r}, but the series are {', '.join(points)}")
        y, width = points[name][1], np.asarray(given, float)
        if width.shape not in ((y.size,), (2, y.size)):
            raise ValueError(
                f"plot.curves: spread of {name!r} has shape {width.shape}, expected {y.shape} or (2, {y.size})"
            )
        bands[name] = np.stack([y - width, y + width]) if width.ndim == 1 else width
    return bands


def _names(where: str, what: str, labels: Sequence[object] | None, count: int) -> list[str]:
    names = [str(label) for label in (range(count) if labels is None else labels)]
    if len(names) != count:
        raise ValueError(f"{where}: {len(names)} {what}, expected {count}")
    return names
