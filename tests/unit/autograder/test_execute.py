"""What the executor keeps of a submission's output, and what it leaves in cells that did not run."""

from __future__ import annotations

import nbformat
import pytest

from autograder.execute import mark_not_run
from autograder.execute.client import Client, note_error
from autograder.execute.executor import storable

KIB = 1024


def _client(left_kib: int) -> Client:
    client = Client(nbformat.v4.new_notebook())
    client.left_bytes = left_kib * KIB
    return client


def _cell(*outputs: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output(kind) for kind in outputs])


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
