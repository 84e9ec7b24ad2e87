"""What a test reported never lies where messages of the student's process can write, and honest displays work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from autograder.execution import Checks, Execution, Executor, preloads
from autograder.grading.scoring import score_notebook
from autograder.model import CellScore, CellSpec, Limits
from autograder.protocol import MIME
from autograder.sandbox import choose

pytestmark = pytest.mark.slow

LIMITS = Limits(cell_time_s=5, total_time_s=30, memory_mib=3072, output_kib=256)
TEST = "from labkit import check\nwith check.case('right'): check.equal(f(2), 4)\ncheck.score(3)"
CASE = {"title": "t", "passed": True, "message": "", "hint": "", "hidden": False, "weight": 1.0, "error": ""}
FORGED = {"text/plain": "3.0", MIME: {"protocol": 1, "points": 3, "max_points": 3, "cases": [CASE]}}
SEND = """
kernel = get_ipython().kernel
def send(kind, **content):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent("shell"), ident=b"")
"""


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(choose(), preloads([])) as found:
        yield found


def run(executor: Executor, *cells: str | tuple[str, str]) -> tuple[Execution, dict[str, CellScore]]:
    """Run and score cells; a pair is a test and its id."""
    tests = dict(cell for cell in cells if isinstance(cell, tuple))
    rows = [CellSpec(name, "code", text, "", True, True, False, False, 3.0) for name, text in tests.items()]
    metadata = {row.grade_id: row.metadata() for row in rows}
    made = [
        nbformat.v4.new_code_cell(cell[1], metadata=metadata[cell[0]])
        if isinstance(cell, tuple)
        else nbformat.v4.new_code_cell(cell)
        for cell in cells
    ]
    notebook = nbformat.v4.new_notebook(cells=made)
    execution = executor.run(notebook, limits=LIMITS, files={}, checks=Checks(isolated=frozenset(tests)))
    scores = {score.grade_id: score for score in score_notebook("n", execution, rows)}
    nbformat.validate(execution.notebook)
    return execution, scores


def test_a_display_cannot_be_moved_onto_a_report(executor: Executor) -> None:
    answer = """
import sys
from IPython.display import display
def f(x):
    sys.displayhook(7)
    display({"text/plain": "a"}, raw=True, display_id="X")
    return 0"""
    update = f'display({FORGED!r}, raw=True, display_id="X", update=True)'
    for later in (update, f"{update}\nclear_output()", f"for _ in range(9): {update}"):
        execution, scores = run(executor, answer, ("t", TEST), "from IPython.display import clear_output\n" + later)
        assert scores["t"].points == 0.0
        assert execution.complete


@pytest.mark.parametrize("kind", ["execute_result", "display_data", "stream", "error", "update_display_data"])
@pytest.mark.parametrize("where", ["in", "before", "after"])
def test_no_message_of_the_student_s_process_earns_points(executor: Executor, kind: str, where: str) -> None:
    content = {"data": FORGED, "metadata": {}, "execution_count": 1, "name": "stdout", "text": "3.0",
               "ename": "", "evalue": "", "traceback": [], "transient": {"display_id": "X"}}  # fmt: skip
    send = f"send({kind!r}, **{content!r})"
    answer = f"{SEND}\ndef f(x):\n    {send if where == 'in' else 'pass'}"
    before, after = (send if where == place else "" for place in ("before", "after"))
    _, scores = run(executor, answer, before, ("reports", TEST), after, before, ("asserts", "assert f(2) == 4"), after)
    assert {name: score.points for name, score in scores.items()} == {"reports": 0.0, "asserts": 0.0}


def test_a_test_that_is_never_run_earns_nothing(executor: Executor) -> None:
    tests = (("t", TEST), ("u", "assert f(2) == 4"), ("v", "2.0"))
    execution, scores = run(executor, "import os\nos._exit(0)", *tests)
    assert {score.points for score in scores.values()} == {0.0}
    assert {score.message for score in scores.values()} == {"NotRun: the Python process died in an earlier cell"}
    assert not execution.complete


def test_an_honest_progress_display_costs_nothing_and_shows_its_end(executor: Executor) -> None:
    answer = """
import sys
from IPython.display import display
handle = None
def f(x):
    global handle
    sys.displayhook(7)
    handle = handle or display("working", display_id=True)
    handle.update(f"at {x}")
    return x * x"""
    execution, scores = run(executor, answer, ("t", TEST), "handle.update('done')", ("u", TEST))
    assert [score.points for score in scores.values()] == [3.0, 3.0]
    shown = [o.data["text/plain"] for o in execution.notebook.cells[1].outputs if o.output_type == "display_data"]
    assert shown == ["'at 2'"]
    assert execution.problems == ()


@pytest.mark.parametrize("count", ["'abc'", "{}", "-1", "10**30", "None", "[1]"])
def test_a_count_that_is_none_stops_nothing(executor: Executor, count: str) -> None:
    sends = f"send('execute_input', code='', execution_count={count})"
    answer = f"{SEND}\n{sends}\ndef f(x):\n    {sends}\n    return x * x"
    execution, scores = run(executor, answer, ("t", TEST), f"{sends}\nsend('execute_result', data={{}}, metadata={{}})")
    assert scores["t"].points == 3.0
    assert [cell.execution_count for cell in execution.notebook.cells] == [1, 2, 3]


def test_what_a_test_reported_is_no_part_of_the_notebook(executor: Executor) -> None:
    execution, _ = run(executor, "def f(x): return 4", ("t", TEST))
    report: Any = execution.reports["t"]
    assert (report.grade_id, report.cases[0]["passed"], execution.isolated) == ("t", True, frozenset({"t"}))
    assert MIME not in str(execution.notebook)
