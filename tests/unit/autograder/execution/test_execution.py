"""What the executor keeps of a submission's output, and what it leaves in cells that did not run."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from autograder.execution import mark_not_run
from autograder.execution.executor import storable
from autograder.execution.kernel_client import Client, Displays, note_error
from autograder.protocol import MIME

KIB = 1024


def _client(left_kib: int = 1024) -> Client:
    client = Client()
    client.left_bytes = left_kib * KIB
    return client


def _cell(*outputs: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output(kind) for kind in outputs])


def _send(client: Client, cell: nbformat.NotebookNode, kind: str, **content: Any) -> None:
    client.process_message({"msg_type": kind, "content": content}, cell, 0)


def _show(client: Client, cell: nbformat.NotebookNode, text: str, name: Any = None, kind: str = "display_data") -> None:
    _send(client, cell, kind, data={"text/plain": text}, metadata={"x": 1}, transient={"display_id": name})


def _texts(cell: nbformat.NotebookNode) -> list[str]:
    return [output.get("text") or output.data["text/plain"] for output in cell.outputs]


# ------------------------------------------------------------------------------------------------------ how much of it
def test_output_is_kept_until_the_bound_and_how_a_cell_ends_after_it() -> None:
    client = _client(4)
    kept = [client._keep("stream", 3 * KIB, _cell()) for _ in range(2)]
    assert (kept, client.flooded) == ([True, False], True)
    assert not client._keep("display_data", 10, _cell())
    assert client._keep("execute_result", 10 * KIB, _cell("stream"))
    assert client._keep("error", 10 * KIB, _cell("stream"))


def test_a_flood_of_endings_is_a_flood() -> None:
    client = _client(0)
    assert not client._keep("error", 10, _cell("error"))
    assert not client._keep("execute_result", 10, _cell("execute_result"))
    assert not client._keep("execute_result", 1 << 20, _cell())


def test_many_tiny_outputs_cost_more_than_their_bytes() -> None:
    client = _client(1)
    kept = [client._keep("display_data", 1, _cell()) for _ in range(10)]
    assert kept == [True] * 4 + [False] * 6


def test_of_a_long_print_the_beginning_is_kept_and_a_line_says_how_much_is_not() -> None:
    client, cell = _client(20 * KIB), _cell()
    for _ in range(100):
        _send(client, cell, "stream", name="stdout", text="x" * 100_000)
    _send(client, cell, "execute_result", data={"text/plain": "2.0"})
    client.finish(cell)
    assert [output.output_type for output in cell.outputs] == ["stream", "execute_result", "stream"]
    assert len(cell.outputs[0].text) == 64 * KIB
    assert cell.outputs[-1].text == "\n[9,934,464 characters more were left out]\n"
    assert not client.flooded


def test_so_it_is_with_many_outputs_and_with_all_cells_together() -> None:
    client, cells = _client(1 << 20), [_cell() for _ in range(20)]
    for cell in cells:
        client.begin(1)
        for _ in range(300):
            _show(client, cell, "x" * 10_000)
        client.finish(cell)
    assert len(cells[0].outputs) == 201
    assert cells[0].outputs[-1].text == "\n[100 outputs more were left out]\n"
    assert sum(len(str(cell.outputs)) for cell in cells) < 5 << 20
    assert "300 outputs" in cells[-1].outputs[-1].text


def test_what_is_cleared_again_and_again_costs_nothing() -> None:
    client, cell = _client(1 << 20), _cell()
    for number in range(300):
        _send(client, cell, "clear_output", wait=True)
        _show(client, cell, "x" * 20_000 + str(number), "a")
    _show(client, cell, "the end", "a")
    assert len(cell.outputs) == 2
    assert set(_texts(cell)) == {"the end"}
    _send(client, cell, "clear_output")
    assert cell.outputs == []


# -------------------------------------------------------------------------------------------------------- what it is
def test_what_is_printed_in_pieces_is_one_output_and_a_progress_bar_is_its_last_state() -> None:
    client, cell = _client(), _cell()
    for text in ("a", "b\n", "\r 10%\r 20%", "\x1b[31mc\x1b[0m\r\n"):
        _send(client, cell, "stream", name="stdout", text=text)
    assert _texts(cell) == ["ab\n 20%c\n"]


@pytest.mark.parametrize("kind", ["display_data", "execute_result"])
def test_what_could_act_on_a_page_is_not_kept(kind: str) -> None:
    client, cell = _client(), _cell()
    live = {"text/html": "<script>", "application/javascript": "x", "text/markdown": "x", "text/latex": "x", MIME: {}}
    _send(client, cell, kind, data={"text/plain": "3", **live}, metadata={"image/png": {"width": "1 onload=x"}})
    assert [dict(output.data) for output in cell.outputs] == [{"text/plain": "3"}]
    assert [output.metadata for output in cell.outputs] == [{}]


def test_labkit_s_report_is_kept_of_a_test_that_runs_in_the_kernel() -> None:
    client, cell = _client(), _cell()
    client.begin(4, reports=True)
    _send(client, cell, "execute_result", data={MIME: {"cases": []}}, execution_count=4)
    assert cell.outputs[0].data == {MIME: {"cases": []}}


@pytest.mark.parametrize("count", ["abc", {}, -1, 10**30, None])
def test_counts_are_the_grader_s_own(count: Any) -> None:
    client, cell = _client(), _cell()
    client.begin(7)
    _send(client, cell, "execute_input", code="", execution_count=count)
    _send(client, cell, "execute_result", data={"text/plain": "1"}, execution_count=count)
    assert (cell.execution_count, cell.outputs[0].execution_count) == (None, 7)
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


# ----------------------------------------------------------------------------------------------------- named displays
def test_a_display_is_updated_from_any_cell_wherever_it_stands() -> None:
    client, first, second = _client(), _cell(), _cell()
    _show(client, first, "before")
    _show(client, first, "one", "a")
    _show(client, second, "two", "a", "update_display_data")
    assert (_texts(first), _texts(second)) == (["before", "two"], [])
    _show(client, second, "three", "a")
    assert (_texts(first), _texts(second)) == (["before", "three"], ["three"])
    assert not {key for output in first.outputs for key in output} - {"output_type", "data", "metadata"}


@pytest.mark.parametrize("name", [None, 3, [], {}, "", "x" * 10**6])
def test_a_name_that_is_none_names_nothing(name: Any) -> None:
    client, cell = _client(1 << 20), _cell()
    _show(client, cell, "one", name)
    _show(client, cell, "two", name, "update_display_data")
    assert _texts(cell) == ["one"]


def test_a_value_has_no_name_and_cannot_be_changed_later() -> None:
    client, test, later = _client(), _cell(), _cell()
    _show(client, test, "0.0", "a", "execute_result")
    _show(client, later, "2.0", "a", "update_display_data")
    assert _texts(test) == ["0.0"]


def test_updates_of_many_displays_are_bounded() -> None:
    client, cell = _client(1 << 20), _cell()
    for _ in range(200):
        _show(client, cell, "x", "a")
    for _ in range(100):
        _show(client, cell, "y" * 20_000, "a", "update_display_data")
    assert len(str(cell.outputs)) < 5 << 20
    displays = Displays()
    for number in range(10**4):
        displays.add(str(number), nbformat.v4.new_output("display_data"))
    assert len(displays._named) == 1000


def _graded(source: str, **more: object) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade": True, "grade_id": "x"}}, **more)


def test_a_graded_cell_that_was_not_run_gets_an_error_and_no_other_does() -> None:
    ran, not_run = _graded("1", execution_count=1), _graded("2")
    plain, text = nbformat.v4.new_code_cell("3"), nbformat.v4.new_markdown_cell("4")
    mark_not_run(nbformat.v4.new_notebook(cells=[ran, not_run, plain, text]), "too late")
    assert [output.evalue for output in not_run.outputs] == ["too late"]
    assert not ran.outputs
    assert not plain.outputs


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ({"status": "ok"}, []),
        ({"status": "error", "ename": "ValueError", "evalue": "no"}, ["ValueError: no"]),
        ({"status": "aborted"}, ["Error: the cell did not run"]),
    ],
)
def test_a_failure_that_was_not_shown_is_shown(reply: dict[str, str], left: list[str]) -> None:
    cell = _cell()
    note_error(cell, 0, {"content": reply})
    assert [f"{output.ename}: {output.evalue}" for output in cell.outputs] == left


def test_lone_surrogates_are_replaced_wherever_they_stand() -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("a = '\ud800'", metadata={"\udcff": ["\ud800", 1]})]
    )
    cell = storable(notebook).cells[0]
    assert cell.source == "a = '?'"
    assert cell.metadata == {"?": ["?", 1]}
    assert notebook.cells[0].source == "a = '\ud800'"
