"""A test made false fails for every right answer, and shows whether a kernel was left alone."""

from __future__ import annotations

import builtins
import contextlib
import io
import math
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import nbformat
import numpy as np
import pytest

from autograder.execute.canary import FORGED, canary, watchable, watched
from autograder.execute.mutate import falsified
from autograder.execute.run import Execution
from autograder.score import MIME

TRIES = 40
"""A canary is drawn at random."""
HIDDEN = "### BEGIN HIDDEN TESTS\nassert f(3) == 9\n### END HIDDEN TESTS"
CHECKS = {
    "a number": "assert f(3) == 9",
    "a list": "assert [f(n) for n in (1, 2)] == [1, 4], 'wörds'",
    "nested": "assert g(\n    2,\n) == {\n    'a': 2,\n    'b': (2, 'x'),\n}",
    "a word": "assert str(f(2)) == '4'",
    "a truth": "assert (f(2) > 3) == True",
    "a float": "x = 'ü'; assert f(0.5) == 0.25  # ä",
    "negative": "assert -f(2) == -4",
    "huge": "assert f(10**9) == 1_000_000_000_000_000_000",
    "two values": "assert f(2) == h(2)",
    "unlike": "assert f(2) != f(3) and f(1) is not None",
    "within": "assert f(2) in (4, 5)",
    "not within": "assert 3 not in [f(2)]",
    "a difference": "assert abs(f(1.5) - 2.25) < 1e-6",
    "math": "assert math.isclose(f(1.5), 2.25, rel_tol=0.1)",
    "arrays": "assert np.allclose(f(np.array([1.0, 2.0])), [1.0, 4.0])",
    "loose": "assert np.allclose(f(np.array([1.0])), [1.5], atol=1.0)",
    "types": "assert isinstance(f(2), int) and not hasattr(f, 'nothing')",
    "helpers": "np.testing.assert_allclose(f(np.ones(2)), h(np.ones(2)))",
    "helpers with literals": "np.testing.assert_array_almost_equal(f(np.ones(2)), [1, 1], 3)",
    "a threshold": "accuracy = 0.93\nassert accuracy > 0.9",
    "an error": "try:\n    bad(1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('no error')",
    "an error, otherwise": "try:\n    bad(1)\n    raise AssertionError\nexcept ValueError:\n    pass",
    "finally": "try:\n    assert f(2) == 4\nfinally:\n    done = True",
    "a context": "with contextlib.redirect_stdout(io.StringIO()):\n    assert f(2) == 4",
    "cases": "for n, want in [(1, 1), (2, 4)]:\n    got = f(n)\n    assert got == want",
    "a loop": "for n in range(3):\n    assert f(n) == n * n",
    "a function": "def test():\n    assert f(2) == 4\ntest(); test()",
    "nothing": "",
    "hidden": f"assert f(1) == 1\n{HIDDEN}",
    "line ends": "assert f(1) == 1\r\nassert f(2) == 4\r\n",
}


def _names() -> dict[str, Any]:
    def f(n: Any) -> Any:
        return n * n

    def bad(n: Any) -> Any:
        raise ValueError(n)

    modules = {"np": np, "math": math, "contextlib": contextlib, "io": io, "patch": patch}
    return {"f": f, "h": lambda n: n**2, "g": lambda n: {"a": n, "b": (n, "x")}, "bad": bad, **modules}


def _run(source: str) -> dict[str, Any]:
    names = _names()
    getattr(builtins, "exec")(source.replace("\r\n", "\n"), names)  # noqa: B009 (a test cell is run as a kernel would)
    return names


@pytest.mark.parametrize("source", CHECKS.values(), ids=CHECKS)
def test_a_check_made_false_fails_for_a_right_answer(source: str) -> None:
    _run(source)
    for _ in range(TRIES):
        text, kind, _ = falsified(source)
        if kind == "error":
            with pytest.raises((AssertionError, ValueError)):
                _run(text)
        else:
            assert kind == "value", text


def test_what_is_changed_is_hidden_where_there_is_something_hidden() -> None:
    for _ in range(TRIES):
        text, _, _ = falsified(CHECKS["hidden"])
        assert text.startswith("assert f(1) == 1\n### BEGIN HIDDEN TESTS\nassert f(3) == ")
        assert text != CHECKS["hidden"]


def test_lines_of_ipython_stay_as_they_are() -> None:
    source = "%matplotlib inline\nfiles = !ls\nif files:\n    %time f(1)\nf?\nassert f(2) == 4"
    lines = falsified(source)[0].split("\n")
    assert lines[:-1] == source.split("\n")[:-1]
    assert lines[-1].startswith("assert f(2) == ") and lines[-1] != "assert f(2) == 4"


def test_a_cell_that_is_no_python_ends_in_a_false_assertion() -> None:
    text, kind, _ = falsified("def (:\n  f")
    assert kind == "error"
    assert text.startswith("def (:\n  f\nassert ")


@pytest.mark.parametrize("source", ["points = 2\npoints", "points = 0\n\n(points +\n  1)", "f(2)", "0.5"])
def test_a_cell_that_ends_in_a_value_ends_in_another_one(source: str) -> None:
    for _ in range(TRIES):
        text, kind, value = falsified(source)
        if kind == "error":
            with pytest.raises(AssertionError):
                _run(text)
            continue
        *before, last = text.split("\n")
        assert str(_run("\n".join([*before, f"last = {last}"]))["last"]) == value


def test_a_cell_that_reports_cases_reports_one_that_failed() -> None:
    source = 'from labkit import check\nwith check.case("a"):\n    check.close(f(1.0), 1.0)\ncheck.score(2)'
    for _ in range(5):
        text, kind, _ = falsified(source)
        assert kind == "report"
        names = _run(text.replace("check.score(2)", "found = check.score(2)"))
        assert [case.passed for case in names["found"].cases] == [True, False]


@pytest.mark.parametrize(
    ("source", "may"), [("assert 1", True), ("%%time\nf()", True), ("%%capture\nf()", False), ("\n%%bash\nls", False)]
)
def test_what_a_cell_magic_swallows_cannot_be_watched(source: str, may: bool) -> None:
    assert watchable(source) is may


# ------------------------------------------------------------------------------------------------------ what comes back
def _output(kind: str, **more: Any) -> nbformat.NotebookNode:
    return nbformat.v4.new_output(kind, **more)


ERROR = _output("error", ename="AssertionError", evalue="", traceback=[])


def test_an_error_is_what_a_kernel_that_was_left_alone_shows() -> None:
    found = canary("assert f(2) == 4")
    assert found.noticed([ERROR])
    assert not found.noticed([])
    assert not found.noticed([_output("execute_result", data={"text/plain": "2"})])


def test_the_one_right_value_is_what_a_kernel_that_was_left_alone_shows() -> None:
    found = canary("points = 1\npoints")
    value = falsified("points = 1\npoints")[2]
    right = next(n for n in range(10, 100) if found.noticed([_output("execute_result", data={"text/plain": str(n)})]))
    assert 10 <= right < 100 and value.isdigit()
    assert found.noticed([ERROR])
    assert not found.noticed([])
    assert not found.noticed([_output("execute_result", data={"text/plain": "1"})])


def test_a_failed_case_is_what_a_kernel_that_was_left_alone_reports() -> None:
    found = canary("from labkit import check\ncheck.score(2)")
    for passed in (True, False):
        data = {"text/plain": "2.0", MIME: {"cases": [{"passed": True}, {"passed": passed}]}}
        assert found.noticed([_output("execute_result", data=data)]) is not passed
    assert not found.noticed([_output("execute_result", data={MIME: "nonsense"})])
    assert not found.noticed([])


# ------------------------------------------------------------------------------------------------------------- two runs
def _notebook() -> nbformat.NotebookNode:
    cells = [
        nbformat.v4.new_code_cell(f"assert {name}() == 4", metadata={"nbgrader": {"grade_id": name}}) for name in "fgh"
    ]
    return nbformat.v4.new_notebook(cells=cells)


def _watch(kernel: Callable[[str], bool]) -> tuple[Execution, list[list[str]]]:
    """Return what becomes of f and g, which are guarded, and h, which is not; and the sources of each run."""
    runs = []

    def run(notebook: nbformat.NotebookNode) -> Execution:
        runs.append([cell.source for cell in notebook.cells])
        for cell in notebook.cells:
            cell.outputs = [] if kernel(cell.source) else [ERROR]
        return Execution(notebook, complete=True)

    return watched(run, _notebook(), {"f", "g"}), runs


def test_the_false_run_comes_first_or_second_and_the_true_one_counts() -> None:
    first = set()
    for _ in range(TRIES):
        execution, runs = _watch(lambda source: source.endswith("== 4"))
        assert [cell.outputs for cell in execution.notebook.cells] == [[], [], []]
        assert execution.forged == ()
        assert len(runs) == 2
        first.add(runs[0][0].endswith("== 4"))
        true, false = runs if runs[0][0].endswith("== 4") else runs[::-1]
        assert true == [cell.source for cell in execution.notebook.cells]
        assert [a == b for a, b in zip(true, false, strict=True)] == [False, False, True]
    assert first == {True, False}


def test_a_false_check_that_passes_costs_its_cell_and_no_other() -> None:
    execution, _ = _watch(lambda source: "f()" in source or source.endswith("== 4"))
    assert execution.forged == (f"cell 'f': {FORGED}: the kernel was tampered with",)
    assert [bool(cell.outputs) for cell in execution.notebook.cells] == [True, False, False]


def test_what_has_earned_nothing_is_not_watched() -> None:
    for _ in range(TRIES):
        execution, runs = _watch(lambda _: False)
        assert execution.forged == ()
        assert len(runs) in {1, 2}
    assert watched(lambda notebook: Execution(notebook, complete=True), _notebook(), ()).forged == ()
