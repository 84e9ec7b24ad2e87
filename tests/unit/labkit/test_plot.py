"""plot: what is drawn, what is refused, and that a notebook shows a figure once."""

from __future__ import annotations

import base64
import io
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbclient
import nbformat
import numpy as np
import pytest

from labkit import _figure, plot

NAN = float("nan")


@pytest.fixture(autouse=True)
def headless() -> Iterator[None]:
    """Draw without a screen and leave no figure open."""
    mpl.use("agg")
    yield
    plt.close("all")


def draw(ax: Any) -> Any:
    """Render the figure of `ax`: some mistakes only show then."""
    ax.figure.savefig(io.BytesIO())
    return ax


def picture(ax: Any) -> Any:
    return ax.images[0]


def svg(ax: Any) -> tuple[str, dict[str, str]]:
    return _figure._svg(ax.figure)


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def ticks(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def test_importing_plot_does_not_import_matplotlib() -> None:
    code = "import sys; from labkit import plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_curves_differ_in_more_than_colour() -> None:
    ax = draw(plot.curves({str(i): np.arange(3) + i for i in range(8)}))
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in ax.lines]
    assert len(set(looks)) == 8
    assert len({line for _, line, _ in looks[:4]}) == 4


def test_curves_carry_their_labels() -> None:
    ax = draw(plot.curves({"train": [3, 2], "validation": [3, 2.5]}, title="Loss", xlabel="epoch", ylabel="nats"))
    assert (ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()) == ("Loss", "epoch", "nats")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["train", "validation"]


def test_one_curve_needs_neither_name_nor_legend() -> None:
    ax = draw(plot.curves([3.0, 2.0, 1.0]))
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert ax.get_legend() is None


def test_curves_take_their_own_x() -> None:
    ax = draw(plot.curves({"ring": ([2, 4, 8], [1, 2, 4])}, logx=True, logy=True))
    assert ax.lines[0].get_xdata().tolist() == [2, 4, 8]
    assert ticks(ax.xaxis) == ["2", "4", "8"]


def test_between_powers_of_ten_two_and_five_are_written() -> None:
    ax = draw(plot.curves({"lines": ([1, 2, 3], [1500, 9000, 99_000])}, logy=True))
    written = {label.get_text() for label in ax.yaxis.get_ticklabels(which="both")} - {""}
    assert {"2,000", "5,000", "10,000", "20,000", "50,000"} <= written
    assert not {"3,000", "4,000", "6,000", "30,000"} & written
    ax = draw(plot.curves({"lines": ([1, 2, 3], [0.015, 9, 99])}, logy=True))
    written = {label.get_text() for label in ax.yaxis.get_ticklabels(which="both")} - {""}
    assert written <= {"0.001", "0.01", "0.1", "1", "10", "100", "1,000"}


def test_ticks_of_a_logarithmic_axis_do_not_overlap() -> None:
    steps = 10.0 ** np.arange(-13, 0)
    ax = draw(plot.curves({"one": (steps, steps), "two": (steps, 2 * steps)}, logx=True, logy=True))
    for axis in (ax.xaxis, ax.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
        assert len(boxes) > 4
        assert not any(box.overlaps(other) for box, other in itertools.pairwise(boxes))
    few = draw(plot.curves({"ring": ([1, 2, 3, 4, 5, 6, 7, 8], [1] * 8)}, logx=True))
    assert ticks(few.xaxis) == ["1", "2", "3", "4", "5", "6", "7", "8"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-13, "1e\N{MINUS SIGN}13"), (1e-5, "1e\N{MINUS SIGN}5"), (0.01, "0.01"), (1024, "1,024"), (1e6, "1e6")],
)
def test_a_tick_is_short(value: float, text: str) -> None:
    assert _figure.tick(value) == text


def test_an_axis_of_two_decades_has_ticks_between_the_powers_of_ten() -> None:
    ax = draw(plot.curves({"loss": [2.0, 0.5, 0.03]}, logy=True))
    assert "0.2" in [label.get_text() for label in ax.yaxis.get_minorticklabels()]


def test_curves_leave_a_gap_where_a_loss_is_not_finite() -> None:
    assert draw(plot.curves({"diverges": [1.0, 2.0, NAN, float("inf"), 3.0]})).get_ylim()[1] < 4


@pytest.mark.parametrize("band", [[0.5, 0.5], [[0.5, 1.5], [1.5, 2.5]]])
def test_a_band_is_a_half_width_or_two_edges(band: Any) -> None:
    ax = draw(plot.curves({"loss": [1.0, 2.0]}, spread={"loss": band}))
    edges = ax.collections[0].get_paths()[0].vertices
    assert (edges[:, 1].min(), edges[:, 1].max()) == (0.5, 2.5)


def test_bars_show_their_values() -> None:
    ax = draw(plot.bars({"NumPy": 3.14159, "PyTorch": 2, "Keras": -12_345.6}))
    assert texts(ax) == ["3.14", "2", "\N{MINUS SIGN}12,346"]
    assert ticks(ax.xaxis) == ["NumPy", "PyTorch", "Keras"]


def test_bars_take_a_format_and_error_bars() -> None:
    ax = draw(plot.bars([0.5, 0.25], ["a", "b"], fmt=".0%", spread=[0.1, 0.1], logy=True))
    assert texts(ax) == ["50%", "25%"]


def test_the_runs_behind_a_bar_are_marks_below_its_number() -> None:
    ax = draw(plot.bars({"a": 2.0, "b": 3.0}, runs=[[1.0, 3.0], [3.0]]))
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1.0, 3.0], [3.0]]
    assert [(text.get_text(), text.xy) for text in ax.texts] == [("2", (0, 3.0)), ("3", (1, 3.0))]
    with pytest.raises(ValueError, match=r"plot\.bars: runs of 1 bars, expected 2"):
        plot.bars([1.0, 2.0], runs=[[1.0]])


def test_a_missing_bar_has_no_number() -> None:
    assert texts(draw(plot.bars([1.0, NAN]))) == ["1", ""]


def test_long_labels_are_tilted() -> None:
    ax = draw(plot.bars(range(10), [f"a rather long name {i}" for i in range(10)]))
    assert ax.get_xticklabels()[0].get_rotation() == 30


def test_a_matrix_shows_every_number_and_leaves_nan_empty() -> None:
    ax = draw(plot.matrix([[0.91, NAN, 1.0]], ["relu"], ["none", "L2", "dropout"], fmt=".0%"))
    assert texts(ax) == ["91%", "", "100%"]
    assert (ticks(ax.yaxis), ticks(ax.xaxis)) == (["relu"], ["none", "L2", "dropout"])


def test_a_confusion_matrix_is_coloured_by_its_mistakes() -> None:
    image = picture(plot.matrix([[900, 2], [1, 900]], off_diagonal=True))
    assert (image.norm.vmin, image.norm.vmax) == (1, 2)
    assert image.get_array().mask.tolist() == [[True, False], [False, True]]


def test_a_confusion_matrix_without_mistakes_is_drawn() -> None:
    assert texts(draw(plot.matrix(np.eye(2), off_diagonal=True))) == ["1", "0", "0", "1"]
    assert texts(draw(plot.matrix([[5]], off_diagonal=True))) == ["5"]


def test_numbers_in_a_matrix_contrast_with_their_cells() -> None:
    cells = np.linspace(0, 1, 40).reshape(4, 10)
    ax = draw(plot.matrix(cells))
    for value, text in zip(cells.ravel(), ax.texts, strict=True):
        behind = _figure.luminance(ax.images[0].to_rgba(np.array(value)))
        above = {"white": 1.0, "black": 0.0}[text.get_color()]
        contrast = (max(behind, above) + 0.05) / (min(behind, above) + 0.05)
        assert contrast >= 4.5  # WCAG 2, level AA


def test_images_lie_in_a_grid_a_pixel_apart() -> None:
    sheet = picture(plot.images(np.ones((5, 2, 3)), columns=3)).get_array()
    assert sheet.shape == (2 * 2 + 1, 3 * 3 + 2)
    empty = np.ma.getmaskarray(sheet)
    assert empty[2].all()
    assert empty[:, 3].all()
    assert empty[3:, 8:].all()
    assert empty.sum() == sheet.size - 5 * 2 * 3


def test_an_image_has_its_title_above_it() -> None:
    ax = draw(plot.images(np.ones((4, 8, 8)), [3, 1, 4, 1], columns=2))
    empty = np.ma.getmaskarray(ax.images[0].get_array())
    assert texts(ax) == ["3", "1", "4", "1"]
    for text in ax.texts:
        x, y = text.get_position()
        assert empty[int(y), int(x)]
        assert not empty[int(y) + 2, int(x)]


def test_an_image_is_as_wide_as_asked() -> None:
    width, wider = (draw(plot.images(np.zeros((2, 4, 4)), tile_in=t)).figure.get_size_inches()[0] for t in (1, 2))
    assert wider == pytest.approx(2 * width)


def test_signed_images_are_white_at_zero() -> None:
    image = draw(plot.images(np.array([[[-1.0, 3.0]]]), signed=True)).images[0]
    assert (image.norm.vmin, image.norm.vmax) == (-3, 3)
    assert min(image.to_rgba(np.array(0.0))[:3]) > 0.95


def test_colour_images_are_drawn() -> None:
    assert draw(plot.images(np.ones((2, 4, 4, 3)), ["a", "b"])).images[0].get_array().shape[2] == 3


def test_scatter_draws_each_cloud() -> None:
    ax = draw(plot.scatter({"CPU": ([1, 2], [3, 4]), "GPU": ([1, 2], [30, 40])}, logx=True, logy=True))
    assert [len(cloud.get_offsets()) for cloud in ax.collections] == [2, 2]


def test_fourteen_clouds_differ_in_colour_or_filling_and_in_their_mark() -> None:
    ax = draw(plot.scatter({str(i): ([1, 2], [i, i + 1]) for i in range(14)}))
    looks = []
    for points in ax.collections:
        filled = len(points.get_facecolor()) > 0
        edge = points.get_facecolor() if filled else points.get_edgecolor()
        looks.append((filled, tuple(edge[0]), points.get_paths()[0].vertices.tobytes()))
    assert len({(filled, colour) for filled, colour, _ in looks}) == 14
    assert len({(filled, mark) for filled, _, mark in looks}) == 14
    assert len({(colour, mark) for _, colour, mark in looks}) == 14


def test_names_beside_points_cover_neither_each_other_nor_a_point() -> None:
    near = [1.0, 1.001, 1.002, 50.0], [2.0, 2.0, 2.001, 3.0]
    ax = draw(plot.scatter({"a": near, "b": ([1.001], [2.001])}, names={"a": [0, 1, 2, 10], "b": [3]}, logx=True))
    boxes = [text.get_window_extent() for text in ax.texts]
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "10", "3"]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    points = ax.transData.transform(np.concatenate([cloud.get_offsets() for cloud in ax.collections]))
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_each_place_is_labelled_where_its_legend_leaves_room() -> None:
    places = 2.0 ** np.arange(6, 14)
    for name, labelled in (("short", True), ("a name as long as this", False)):
        ax = plot.curves({name: (places, places), "other": (places, 1 / places)}, logx=True)
        assert ("2,048" in [label.get_text() for label in ax.get_xticklabels()]) == labelled


def test_panels_stand_side_by_side_in_one_figure() -> None:
    left, right = plot.panels(2)
    plot.curves({"a": [1, 2], "b": [2, 1]}, ax=left)
    assert plot.images(np.ones((1, 2, 2)), ax=right) is right
    assert draw(left).figure is right.figure


def test_panels_stand_one_above_the_other_where_that_is_asked_for() -> None:
    upper, lower = plot.panels(2, stacked=True)
    lower.hlines([0], 1, 2)
    assert upper.get_position().y0 > draw(lower).get_position().y1
    assert upper.get_position().x0 == lower.get_position().x0


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: plot.curves({}), "plot.curves: nothing to draw"),
        (lambda: plot.curves({"a": []}), r"plot.curves: 'a' is empty \(shape \(0,\)\)"),
        (lambda: plot.curves({"a": [[1], [2]]}), r"plot.curves: 'a' has shape \(2, 1\), expected 1 axes"),
        (lambda: plot.curves({"a": [NAN, NAN]}), "plot.curves: 'a' holds no finite number"),
        (lambda: plot.curves({"a": ([1, 2, 3], [1, 2])}), "plot.curves: 'a' has 3 values of x but 2 of y"),
        (lambda: plot.curves({"a": [0, -1]}, logy=True), "'a' holds nothing above zero\nhint: .*logarithmic"),
        (lambda: plot.curves({"a": [1]}, spread={"b": [1]}), "spread names 'b', but the series are a"),
        (lambda: plot.curves({"a": [1, 2]}, spread={"a": [1]}), r"spread of 'a' has shape \(1,\), expected \(2,\)"),
        (lambda: plot.scatter({"a": ([NAN], [1])}), "plot.scatter: x of 'a' holds no finite number"),
        (lambda: plot.scatter({"a": ([1], [1])}, names={"a": []}), "plot.scatter: 0 names of 'a', expected 1"),
        (
            lambda: plot.scatter({str(i): ([1], [1]) for i in range(15)}),
            "plot.scatter: 15 names, of which 14 can be told apart\nhint: put points that belong together",
        ),
        (lambda: plot.bars([]), "plot.bars: values is empty"),
        (lambda: plot.bars([1, 2], ["a"]), "plot.bars: 1 labels, expected 2"),
        (lambda: plot.bars([1, 2], spread=[1]), "plot.bars: 1 values of spread, expected 2"),
        (lambda: plot.matrix([1, 2]), r"plot.matrix: m has shape \(2,\), expected 2 axes"),
        (lambda: plot.matrix([[1, 2]], ["a", "b"]), "plot.matrix: 2 row_labels, expected 1"),
        (lambda: plot.matrix([[NAN]]), "plot.matrix: m holds no finite number"),
        (lambda: plot.images(np.ones((4, 4))), r"plot.images: array has shape \(4, 4\), expected 3 axes"),
        (lambda: plot.images(np.ones((0, 4, 4))), "plot.images: array is empty"),
        (lambda: plot.images(np.ones((2, 4, 4)), ["a"]), "plot.images: 1 titles, expected 2"),
        (lambda: plot.images(np.ones((2, 4, 4, 2))), "colours are 3, from 0 to 1"),
        (lambda: plot.images(255 * np.ones((2, 4, 4, 3))), "values 0 to 255; colours are 3, from 0 to 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_a_figure_is_made(call: Callable[[], Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        call()
    assert plt.get_fignums() == []


def test_the_same_figure_gives_the_same_svg() -> None:
    first, second = (svg(plot.curves({"a": [1, 2], "b": [2, 1]}, spread={"a": [1, 1]})) for _ in range(2))
    assert first == second


def test_svg_says_what_it_shows() -> None:
    ax = plot.curves({"train": [3, 2], "test": [3, 2.5]}, title="Loss & more", xlabel="epoch", ylabel="nats")
    page, metadata = svg(ax)
    words = "Loss & more; x: epoch; y: nats; series: train, test"
    assert metadata == {"alt": words}
    title = ElementTree.fromstring(page).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == words


@pytest.mark.slow
def test_a_notebook_shows_each_figure_once_as_svg() -> None:
    cells = [
        "from labkit import plot",
        "plot.curves([1, 2], title='last value of its cell')",
        "ax = plot.bars([1, 2], title='not the last')\nax.axhline(1)\nprint('text')",
        "%config InlineBackend.figure_formats = ['png']\nplot.bars([1, 2])",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    shown = [
        [sorted(output.get("data", [output["output_type"]])) for output in cell.outputs] for cell in notebook.cells
    ]
    as_svg, as_png = ["image/svg+xml", "text/html", "text/plain"], ["image/png", "text/plain"]
    assert shown == [[], [as_svg], [["stream"], as_svg], [as_png]]
    # What a page shows: JupyterLab puts no alternative text to an SVG.
    (figure,) = notebook.cells[1].outputs
    assert figure.data["text/html"].startswith(
        '<img alt="last value of its cell; series: values" src="data:image/svg+xml;base64,'
    )
    assert base64.b64decode(figure.data["text/html"].split(",")[1][:-2]).decode() == figure.data["image/svg+xml"]
