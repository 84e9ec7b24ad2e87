"""The one style of labkit's figures, and how a notebook shows them."""

from __future__ import annotations

import base64
import functools
import io
import re
import sys
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter

__all__ = [
    "CLOUDS",
    "PALETTE",
    "SIZE_IN",
    "axes",
    "cloud",
    "colour_map",
    "finish",
    "look",
    "luminance",
    "mark_runs",
    "mosaic",
    "number",
    "side_by_side",
    "tick",
    "write_beside",
]

# Okabe and Ito (2008), "Color universal design"; without its yellow, which is too light for lines on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SIZE_IN = (6.0, 3.1)  # fits the text column of a printed notebook
_DRAWN = "_labkit_drawn"
_LINES = ("-", "--", "-.", ":")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
CLOUDS = 2 * len(_MARKS)  # so many clouds of points can be told apart
_STEPS = [r * np.array([np.cos(a), np.sin(a)]) for r in range(9, 60, 4) for a in np.radians(range(30, 390, 30))]


def axes(
    ax: Axes | None,
    *,
    title: str,
    xlabel: str = "",
    ylabel: str = "",
    logx: bool = False,
    logy: bool = False,
    size: tuple[float, float] = SIZE_IN,
) -> Axes:
    """Return `ax`, or new axes, in this module's style."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.set_xlabel(xlabel, fontsize=10)
    ax.set_ylabel(ylabel, fontsize=10)
    for wanted, set_scale, axis in ((logx, ax.set_xscale, ax.xaxis), (logy, ax.set_yscale, ax.yaxis)):
        if wanted:
            set_scale("log")
            axis.set_major_locator(LogLocator(numticks=8))  # more would overlap
            axis.set_major_formatter(_log_formatter())
            axis.set_minor_formatter(_log_formatter())
    ax.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def tick(value: float) -> str:
    """Write a number as a tick of a logarithmic axis: 0.01, 1,024, 1e6."""
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:,.6g}").replace("-", "\N{MINUS SIGN}")


def _log_formatter() -> LogFormatter:
    """Return a formatter that writes `tick`s, also between the powers of ten where few of these are in sight."""
    from matplotlib.ticker import LogFormatter

    class Ticks(LogFormatter):
        def set_locs(self, locs: Any = None) -> None:
            super().set_locs(locs)
            found: set[float] | None = vars(self).get("_sublabels")
            if found and 1 < len(found) < 10:  # matplotlib's own, 2, 3, 4 and 6, crowd
                self._sublabels = {1, 2, 5}

        def __call__(self, x: float, pos: int | None = None) -> str:
            return tick(x) if super().__call__(x, pos) else ""

    return Ticks(minor_thresholds=(2, 0.5))


def look(i: int) -> tuple[str, str, str]:
    """Return colour, line style and mark of series `i`: each tells series apart without the others."""
    return PALETTE[i % len(PALETTE)], _LINES[i % len(_LINES)], _MARKS[i % len(_MARKS)]


def cloud(i: int) -> dict[str, Any]:
    """Return how the points of series `i`, below `CLOUDS`, are drawn: hollow after the palette's last colour."""
    turn, at = divmod(i, len(PALETTE))
    style: dict[str, Any] = {"s": 28, "alpha": 0.8}
    if not turn:
        return style | {"color": PALETTE[at], "marker": _MARKS[at], "linewidth": 0}
    mark = _MARKS[(at + 3) % len(_MARKS)]  # another than that of the same colour
    return style | {"facecolors": "none", "edgecolors": PALETTE[at], "marker": mark, "linewidth": 1.4}


def mark_runs(ax: Axes, heights: NDArray[np.float64], runs: Sequence[ArrayLike], labels: Sequence[str]) -> None:
    """Draw the values behind each bar as marks side by side, and each bar's label above them and it."""
    if len(runs) != heights.size:
        raise ValueError(f"plot.bars: runs of {len(runs)} bars, expected {heights.size}")
    for place, (height, values, label) in enumerate(zip(heights, runs, labels, strict=True)):
        shown = np.asarray(values, float).ravel()
        across = place + 0.25 * np.linspace(-1, 1, shown.size) * (shown.size > 1)
        ax.plot(across, shown, "o", color=PALETTE[4], markeredgecolor="black", markeredgewidth=0.6, markersize=4.5)
        top = max(value for value in (height, *shown) if np.isfinite(value))
        ax.annotate(label, (place, top), (0, 7), textcoords="offset points", ha="center", fontsize=9)


def finish(ax: Axes, *, legend: bool = False) -> Axes:
    """Add the legend, and see to it that a notebook shows the figure once, as SVG."""
    if legend:
        alone = len(ax.figure.axes) == 1  # beside the data; between panels there is no room for that
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if alone else {"loc": "best"}
        ax.legend(frameon=False, fontsize=10, handlelength=2.6, **place)
    # The figure is shown when its cell ends: axes as the last value of the cell would add a line of text.
    vars(ax)["_ipython_display_"] = _show_nothing
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        _use_svg(shell)
    return ax


def write_beside(ax: Axes, named: Sequence[tuple[float, float, str]]) -> None:
    """Write texts beside points (x, y): each at the nearest place that covers no point and no other text."""
    if not named:
        return
    ax.margins(0.12)
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]  # lays the axes out: until then a point has no place
    scale = 72 / ax.figure.dpi
    low, high = scale * np.array(ax.bbox.min), scale * np.array(ax.bbox.max)
    marks = scale * ax.transData.transform(np.array([(x, y) for x, y, _ in named]))
    taken = [(at, np.array([4.0, 4.0])) for at in marks]  # centres, and half of widths and heights, in points
    for (x, y, text), at in zip(named, marks, strict=True):
        half = np.array([2.8 * len(text) + 2.0, 5.0])  # and a gap to the next
        inside = [step for step in _STEPS if (at + step - half > low).all() and (at + step + half < high).all()]
        free = [step for step in inside if all((abs(at + step - c) >= half + h).any() for c, h in taken)]
        step = (free or _STEPS)[0]
        taken.append((at + step, half))
        line = {"arrowstyle": "-", "linewidth": 0.5, "color": "#888888"} if np.hypot(*step) > 14 else None
        where: dict[str, Any] = {"ha": "center", "va": "center", "textcoords": "offset points", "fontsize": 9}
        ax.annotate(text, (x, y), xytext=(float(step[0]), float(step[1])), arrowprops=line, **where)


def _show_nothing() -> None:
    """Stand for axes at the end of a cell."""


@functools.cache
def _use_svg(shell: Any) -> None:
    """Let a notebook show its figures as SVG; a later `%config InlineBackend.figure_formats` still wins."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
    from matplotlib_inline.config import InlineBackend

    if "inline" in plt.get_backend():
        InlineBackend.instance().figure_formats = {"svg"}
        formatters = shell.display_formatter.formatters
        formatters["image/svg+xml"].for_type(Figure, _svg)
        formatters["text/html"].for_type(Figure, functools.partial(_html, formatters["image/svg+xml"]))


def _svg(figure: Figure) -> tuple[str, dict[str, str]]:
    """Return a figure as SVG, equal bytes for equal figures, with a description as its title and alternative text."""
    drawn: tuple[str, str] | None = vars(figure).pop(_DRAWN, None)
    page, words = drawn or _draw(figure)
    return page, {"alt": words}


def _html(svg: Any, figure: Figure) -> str | None:
    """Return the same SVG in an image whose alternative text reaches the page: JupyterLab shows an SVG without it.

    svg: IPython's formatter for SVG. Where somebody has chosen another format since, there is nothing to return.
    """
    if svg.type_printers.get(type(figure)) is not _svg:
        return None
    page, words = vars(figure)[_DRAWN] = _draw(figure)  # `_svg` is asked next
    encoded = base64.b64encode(page.encode()).decode()
    return f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{encoded}">'


def _draw(figure: Figure) -> tuple[str, str]:
    import matplotlib.pyplot as plt

    words = _describe(figure)
    page = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "labkit"}):
        figure.savefig(page, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": words})
    return page.getvalue(), words


def _describe(figure: Figure) -> str:
    """Say in words what the axes of a figure show: title, labels, names of the series."""
    parts = []
    for ax in figure.axes:
        names = [label for label in ax.get_legend_handles_labels()[1] if not label.startswith("_")]
        about = {"x": ax.get_xlabel(), "y": ax.get_ylabel(), "series": ", ".join(names)}
        facts = [ax.get_title(loc="left") or ax.get_title(), *(f"{key}: {text}" for key, text in about.items() if text)]
        parts.append("; ".join(filter(None, facts)))
    return ". ".join(filter(None, parts)) or "figure"


def colour_map(name: str, *, bad: str) -> Any:
    """Return a colour map that draws missing values in `bad`."""
    import matplotlib as mpl

    return mpl.colormaps[name].with_extremes(bad=bad)


def luminance(rgba: ArrayLike) -> float:
    """Return the relative luminance of WCAG 2: 0 for black, 1 for white."""
    red_green_blue = np.asarray(rgba, float)[:3]
    linear = np.where(red_green_blue <= 0.04045, red_green_blue / 12.92, ((red_green_blue + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def side_by_side(places: NDArray[np.float64], names: Sequence[str], width: float) -> bool:
    """Say whether names fit below an axis that spans the places logarithmically and is `width` characters wide."""
    at = np.log(places) * width / (np.log(places[-1] / places[0]) or 1.0)
    lengths = np.array([len(name) for name in names])
    return bool((np.diff(at) > (lengths[1:] + lengths[:-1]) / 2 + 1).all())


def mosaic(pictures: NDArray[np.float64], columns: int, head: int) -> NDArray[np.float64]:
    """Lay the pictures out in one, a pixel apart and `head` more pixels above each."""
    n, height, width, *colours = pictures.shape
    rows = -(-n // columns)
    sheet = np.full((rows * (height + 1 + head), columns * (width + 1), *colours), 1.0 if colours else np.nan)
    for i, picture in enumerate(pictures):
        y, x = i // columns * (height + 1 + head) + head, i % columns * (width + 1)
        sheet[y : y + height, x : x + width] = picture
    return sheet[:-1, :-1]


def number(value: float, fmt: str | None) -> str:
    """Write a number: as `fmt` says, else integers whole and others with three digits."""
    if fmt is not None:
        return format(value, fmt)
    text = f"{value:,.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")
