"""What a look cell says in a notebook that is not finished yet."""

from __future__ import annotations

from typing import Any

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.slow

LOOK = "# explore: change anything here\n"


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    """A notebook that was run from top to bottom as JupyterLab does: a cell that fails stops it unless it is tagged."""
    cells = [
        nbformat.v4.new_code_cell("import labkit"),
        nbformat.v4.new_code_cell("def f():\n    raise NotImplementedError('Task 1: f')"),
        nbformat.v4.new_code_cell(f"{LOOK}1 + nowhere"),
        nbformat.v4.new_code_cell(f"{LOOK}values = [f() for _ in range(2)]"),
        nbformat.v4.new_code_cell(f"{LOOK}print(values)"),
        nbformat.v4.new_code_cell("f()"),
        nbformat.v4.new_code_cell(f"{LOOK}raise NotImplementedError('of a library\\nin two lines')"),
        nbformat.v4.new_code_cell(f"{LOOK}1 / 0"),
        nbformat.v4.new_code_cell(f"{LOOK}print(of_a_task_whose_cell_has_failed)"),
        nbformat.v4.new_code_cell(f"{LOOK}total = sum(values)"),
        nbformat.v4.new_code_cell(f"{LOOK}print(total)"),
        nbformat.v4.new_code_cell("print('the end')"),
    ]
    for cell in cells[2:]:
        cell.metadata.tags = ["raises-exception"]
    made = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(made, kernel_name="python3", timeout=60).execute()
    return made


def _error(cell: Any) -> tuple[str, list[str]]:
    (output,) = cell.outputs
    return output.ename, output.traceback


def test_a_look_cell_of_an_unfinished_task_says_so_in_one_line(notebook: nbformat.NotebookNode) -> None:
    assert _error(notebook.cells[3]) == ("NotImplementedError", ["not implemented yet: Task 1: f"])


def test_what_that_cell_would_have_defined_is_missed_in_one_line_too(notebook: nbformat.NotebookNode) -> None:
    line = "name 'values' is not defined: a cell above stopped at Task 1: f"
    assert _error(notebook.cells[4]) == ("NameError", [line])


def test_what_a_cell_would_have_defined_that_missed_it_is_missed_in_one_line_too(
    notebook: nbformat.NotebookNode,
) -> None:
    line = "name 'total' is not defined: a cell above stopped at Task 1: f"
    assert _error(notebook.cells[10]) == ("NameError", [line])


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (2, "NameError"),
        (5, "NotImplementedError"),
        (6, "NotImplementedError"),
        (7, "ZeroDivisionError"),
        (8, "NameError"),
    ],
)
def test_every_other_error_keeps_its_traceback(number: int, kind: str, notebook: nbformat.NotebookNode) -> None:
    name, trace = _error(notebook.cells[number])
    assert name == kind
    assert any("Traceback" in line for line in trace)


def test_the_notebook_goes_on_to_its_end(notebook: nbformat.NotebookNode) -> None:
    assert notebook.cells[-1].outputs[0].text == "the end\n"
