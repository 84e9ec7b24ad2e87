"""A test made false fails for every right answer, and shows whether a kernel was left alone."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import enum
import io
import math
import re
import unittest
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import nbformat
import numpy as np
import pytest

from autograder.execution.canary import FORGED, canary, watchable, watched
from autograder.execution.falsify import falsified
from autograder.execution.made import of_cells
from autograder.execution.results import Execution
from autograder.protocol import MIME

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
    "a way there and back": "for n, m in [(2, 3), (5, 7)]:\n    assert f(n) // n == n",
    "one of several arguments": "for a, b in [(1, 2), (5, 9)]:\n    assert max([a, b]) == b",
    "a table of approximate values": "for n, want in [(2.0, 1.41), (3.0, 1.73)]:\n"
    "    assert want == pytest.approx(math.sqrt(n), abs=0.05)",
    "a table of rounded values": "for n, want in [(2.0, 1), (5.0, 2)]:\n    assert want == round(math.sqrt(n))",
    "a loop": "for n in range(3):\n    assert f(n) == n * n",
    "a function": "def test():\n    assert f(2) == 4\ntest(); test()",
    "nothing": "",
    "an object": "assert move(P(1, 0)) == P(2, y=0)",
    "an object of its own": "assert move(P(1, 0)) == Q(2, 0)",
    "an object, by a helper": "unittest.TestCase().assertEqual(move(P(1, 0)), P(2, 0))",
    "a fraction": "assert f(Fraction(0, 3)) == Fraction(0, 4)",
    "an object with another idea of equality": "assert One(1, 'a') == One(1, 'b')",
    "a member": "assert turn(Color.RED) == Color.GREEN\nassert turn(Color.GREEN) == Color.RED",
    "a difference of values": "assert abs(f(1.5) - h(1.5)) < 1e-6",
    "the largest difference": "assert np.abs(f(np.ones(3)) - h(np.ones(3))).max() <= 0",
    "a norm": "assert np.linalg.norm(f(np.ones(3)) - h(np.ones(3))) < 1e-6",
    "a difference of 0": "assert f(1e17) - h(1e17) == 0",
    "gathered": "ROWS = [(2, 4), (5, 25)]\nassert all(f(n) == want for n, want in ROWS)",
    "gathered in a list": "assert all([f(n) == 4 for n in (2, -2)])",
    "none of them": "assert not any(f(n) != want for n, want in [(2, 4), (5, 25)])",
    "a list of what is wrong": "ROWS = [(2, 4), (5, 25)]\nbad = [n for n, y in ROWS if f(n) != y]\nassert not bad",
    "an empty list": "bad = [n for n in (2, -2) if f(n) != 4]\nassert bad == [], bad",
    "no items": "bad = {n for n in (2, -2) if f(n) != 4}\nassert len(bad) == 0",
    "one or the other": "assert f(2) == 4 or f(2) == 44",
    "the same or equal": "assert f(2) is None or f(2) == 4",
    "of what may be empty": "assert all(x == 1 for x in h(np.ones(2)))",
    "a refusal": "if f(2) != 4: raise AssertionError('no')",
    "a refusal of what is computed": "want = str(f(2)) + '!'\nif str(f(2)) + '!' != want:\n    raise ValueError",
    "a refusal of what is not close": "if not np.allclose(f(np.ones(2)), [1, 1]):\n    raise AssertionError",
    "refusals in a loop": "for n, want in [(1, 1), (2, 4)]:\n    if f(n) != want:\n        assert False, n",
    "a refusal of one or the other": "if f(2) != 4 or f(3) != 9: raise AssertionError",
    "a refusal of what is equal": "if f(2) == 5 or f(2) is None:\n    print('no')\n    raise AssertionError",
    "a refusal of what is missing": "if 4 not in [f(2)]:\n    unittest.TestCase().fail()",
    "hidden": f"assert f(1) == 1\n{HIDDEN}",
    "line ends": "assert f(1) == 1\r\nassert f(2) == 4\r\n",
}


def _names() -> dict[str, Any]:
    def f(n: Any) -> Any:
        return n * n

    def bad(n: Any) -> Any:
        raise ValueError(n)

    @dataclasses.dataclass(frozen=True)
    class P:
        x: int
        y: int = 0

    class One(P):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, One) and self.x == other.x

        __hash__ = None  # type: ignore[assignment]

    class Color(enum.Enum):
        RED, GREEN = 1, 2

    classes = {
        "Color": Color,
        "turn": lambda c: Color(3 - c.value),
        "unittest": unittest,
        "P": P,
        "Q": P,
        "One": One,
        "move": lambda p: P(p.x + 1, p.y),
        "Fraction": Fraction,
    }
    modules = {"np": np, "pytest": pytest, **classes, "math": math, "contextlib": contextlib, "io": io, "patch": patch}
    return {"f": f, "h": lambda n: n**2, "g": lambda n: {"a": n, "b": (n, "x")}, "bad": bad, **modules}


def _run(source: str) -> dict[str, Any]:
    names = _names()
    getattr(builtins, "exec")(source.replace("\r\n", "\n"), names)  # noqa: B009 (a test cell is run as a kernel would)
    return names


@pytest.mark.parametrize("source", CHECKS.values(), ids=CHECKS)
def test_a_check_made_false_fails_for_a_right_answer(source: str) -> None:
    _run(source)
    for _ in range(TRIES):
        found = falsified(source)
        assert found.kind == "error", found.text
        with pytest.raises((AssertionError, ValueError, TypeError)):
            _run(found.text)


class Agreeing:
    """Agrees with everything, in either direction."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __sub__(self, other: object) -> int:
        return 0

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("source", "whole"),
    [
        ("assert move(P(1, 0)) == P(2, y=0)", ["P"]),
        ("assert move(P(1, 0)) == P(2, y=0)", []),
        ("assert move(P(1, 0)) == Fraction(1, 3)", []),
        ("unittest.TestCase().assertEqual(move(P(1, 0)), P(2, 0))", ["P"]),
        ("assert move(Color.RED) == Color.GREEN", []),
        ("assert move(2) - h(3) == 0", []),
        ("assert abs(move(2) - h(3)) < 1e-6", []),
        ("assert np.abs(move(2) - h(3)) == 0", []),
    ],
)
def test_what_agrees_with_everything_passes_a_check_made_false(source: str, whole: list[str]) -> None:
    names = _names() | {"move": lambda _: Agreeing()}
    for _ in range(TRIES):
        getattr(builtins, "exec")(falsified(source, whole=whole).text, dict(names))  # noqa: B009


@pytest.mark.parametrize(
    "source",
    [
        "assert all(move(n) == want for n, want in [(2, 4), (5, 25)])",
        "bad = [n for n, want in [(2, 4), (5, 25)] if move(n) != want]\nassert not bad",
        "assert not any(move(n) != 4 for n in (2, -2))",
        "assert move(2) == 4 or move(2) == 44",
        "if move(2) != 4: raise AssertionError",
        "want = f'{h(2)}!'\nif move(2) != want: raise AssertionError",
        "want = f'{h(2)}!'\nassert move(2) == want",
        "for n in (2, 3):\n    want = h(n)\n    if move(n) != want:\n        raise AssertionError",
    ],
)
def test_what_agrees_with_everything_passes_many_a_gathered_check_made_false(source: str) -> None:
    names, passed = _names() | {"move": lambda _: Agreeing()}, 0
    for _ in range(4 * TRIES):
        with contextlib.suppress(AssertionError, TypeError):
            getattr(builtins, "exec")(falsified(source).text, dict(names))  # noqa: B009
            passed += 1
    assert passed > 4 * TRIES / 6  # about three in ten


def test_whole_are_classes_that_compare_all_fields() -> None:
    cells = [
        "from dataclasses import dataclass, field\nimport dataclasses\nfrom collections import namedtuple",
        "@dataclass\nclass A:\n    x: int",
        "@dataclasses.dataclass(frozen=True, order=True)\nclass B(A):\n    y: int = 0",
        "class C(NamedTuple):\n    x: int\nD = namedtuple('D', 'x y')",
        "@dataclass(eq=False)\nclass Identity:\n    x: int",
        "@dataclass\nclass Part:\n    x: int = field(compare=False)",
        "@dataclass\nclass Own:\n    x: int\n    def __eq__(self, other): return True",
        "@dataclass\nclass Rounds:\n    x: int\n    def __post_init__(self): self.x = 0",
        "@dataclass\nclass Child(Own):\n    y: int",
        "class Plain:\n    pass\n@total_ordering\n@dataclass\nclass Two:\n    x: int",
    ]
    assert of_cells(["\n".join(cells)]) == {"A", "B", "C", "D"}


def test_what_is_changed_is_hidden_where_there_is_something_hidden() -> None:
    for _ in range(TRIES):
        text = falsified(CHECKS["hidden"]).text
        assert text.startswith("assert f(1) == 1\n### BEGIN HIDDEN TESTS\nassert f(3) == ")
        assert text != CHECKS["hidden"]


def test_lines_of_ipython_stay_as_they_are() -> None:
    source = "%matplotlib inline\nfiles = !ls\nif files:\n    %time f(1)\nf?\nassert f(2) == 4"
    lines = falsified(source).text.split("\n")
    assert lines[:-1] == source.split("\n")[:-1]
    assert lines[-1].startswith("assert f(2) == ") and lines[-1] != "assert f(2) == 4"


@pytest.mark.parametrize("test", ["f(y).allclose(y + y)", "isclose(f(1))", "f(y).allclose()", "np.allclose(*both)"])
def test_a_comparison_with_one_argument_or_none_is_made_false_or_left(test: str) -> None:
    for _ in range(20):
        assert falsified(f"assert {test}").text


def test_a_cell_that_is_no_python_ends_in_a_false_assertion() -> None:
    found = falsified("def (:\n  f")
    assert found.kind == "error"
    assert found.text.startswith("def (:\n  f\nassert ")


@pytest.mark.parametrize("source", ["points = 2\npoints", "points = 0\n\n(points +\n  1)", "f(2)", "0.5"])
def test_a_cell_that_ends_in_a_value_ends_in_another_one_that_it_could_give(source: str) -> None:
    for _ in range(TRIES):
        found = falsified(source, points=4)
        if found.kind == "error":
            with pytest.raises(AssertionError):
                _run(found.text)
            continue
        assert 0 <= float(found.value) < 4
        *before, last = found.text.split("\n")
        assert str(_run("\n".join([*before, f"last = {last}"]))["last"]) == found.value


CASES = """from labkit import check
with check.case("a"):
    check.equal(f(1), 1)
### BEGIN HIDDEN TESTS
with check.hidden_case("b"):
    check.close(f(1.5), 2.25, atol=1e-3)
with check.hidden_case("c"):
    check.true(f(2) == 4, "four")
### END HIDDEN TESTS
check.score(2)"""


def _reported(source: str) -> list[tuple[str, bool]]:
    cases = _run(source.replace("check.score(2)", "found = check.score(2)"))["found"].cases
    return [(case.title, case.passed) for case in cases]


def test_of_a_cell_that_reports_cases_each_hidden_one_is_made_false() -> None:
    for _ in range(TRIES):
        found = falsified(CASES)
        assert (found.kind, set(found.titles)) == ("report", {"b", "c"})
        assert _reported(found.text) == [("a", True), ("b", False), ("c", False)]


def test_where_no_case_can_be_made_false_one_of_a_new_title_is_put_in() -> None:
    source = 'from labkit import check\nwith check.case("a"):\n    check.at_least(f(2), 3)\ncheck.score(2)'
    for _ in range(TRIES):
        found = falsified(source)
        (title,) = found.titles
        assert title.startswith("a ")
        assert _reported(found.text) == [("a", True), (title, False)]


@pytest.mark.parametrize(
    ("source", "may"), [("assert 1", True), ("%%time\nf()", True), ("%%capture\nf()", False), ("\n%%bash\nls", False)]
)
def test_what_a_cell_magic_swallows_cannot_be_watched(source: str, may: bool) -> None:
    assert watchable(source) is may


# ------------------------------------------------------------------------------------------------- what it looks like
def _texts(source: str, points: float = 1.0) -> set[str]:
    return {falsified(source, points).text for _ in range(8 * TRIES)}


@pytest.mark.parametrize(
    ("source", "share"),
    [("assert f(5 + 5) == 100", 0.4), ("assert f(71) == 5041", 0.01), ("assert np.allclose(f(1 / 2), 0.25)", 1.6)],
)
def test_an_expected_number_becomes_one_near_it(source: str, share: float) -> None:
    old = float(re.findall(r"[\d.]+", source)[-1])
    for text in _texts(source):
        new = float(re.findall(r"[\d.]+", text)[-1])
        assert new != old
        assert abs(new - old) <= share * old, text


def test_round_and_even_numbers_stay_so() -> None:
    for text in _texts("assert f(10) == 1200"):
        assert text.endswith("00")
    for text in _texts("assert f(5) == 64"):
        assert int(text.rpartition(" ")[2]) % 2 == 0


@pytest.mark.parametrize(
    ("source", "apart"),
    [
        ("assert np.allclose(f(1.0), 1.0, atol=0.1)", 0.2),
        ("assert np.allclose(f(1.0), 1.0, 0.05)", 0.1),
        ("assert abs(f(1.0) - 1.0) < 0.3", 0.6),
        ("self.assertAlmostEqual(f(1.0), 1.0, places=1)", 0.3),
        ("assert f(1.0) == pytest.approx(1.0, rel=0.02)", 0.04),
        ("np.testing.assert_array_almost_equal(f(1.0), 1.0, 2)", 0.03),
    ],
)
def test_no_tolerance_reaches_from_the_true_number_to_the_false_one(source: str, apart: float) -> None:
    for text in _texts(source):
        assert abs(_expected(text) - 1.0) > apart, text


def _expected(source: str) -> float:
    """Return the number that f(1.0) is compared with."""
    return float(re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", source.partition("f(1.0)")[2])[0])


def test_a_threshold_stands_beside_its_contradiction() -> None:
    for text in _texts("accuracy = 0.95\nassert accuracy > 0.9"):
        bounds = re.findall(r"assert accuracy ([<>]) ([\d.]+)", text)
        assert sorted(sign for sign, _ in bounds) == ["<", ">"]
        low = next(float(bound) for sign, bound in bounds if sign == "<")
        assert low <= 0.9


def test_another_type_is_asked_for_and_none_that_could_be_right() -> None:
    texts = _texts("assert isinstance(f(2), int)")
    assert texts == {f"assert isinstance(f(2), {kind})" for kind in ("str", "list", "dict", "tuple")}


def test_the_table_of_a_loop_gets_another_value() -> None:
    source = "for n, want in [(1, 1), (2, 4)]:\n    assert f(n) == want"
    for text in _texts(source):
        assert text != source
        assert re.fullmatch(r"for n, want in \[\(1, \d+\), \(2, \d+\)\]:\n    assert f\(n\) == want", text)


def test_what_is_hidden_is_changed_even_if_something_visible_could_be_changed_better() -> None:
    source = (
        "assert f(1) == 1\n### BEGIN HIDDEN TESTS\nfor n in numbers:\n    assert f(n) == n**2\n### END HIDDEN TESTS"
    )
    for text in _texts(source):
        assert text.startswith("assert f(1) == 1\n### BEGIN HIDDEN TESTS\n")


def test_no_false_check_calls_what_a_student_wrote() -> None:
    source = "for n in numbers:\n    assert f(n) == n**2"
    for text in _texts(source):
        (put_in,) = set(text.split("\n")) - set(source.split("\n"))
        assert "f(" not in put_in.replace("isinstance(f", "")


def test_points_that_are_put_in_are_as_fine_as_those_of_the_cell() -> None:
    whole = {falsified("points = 0\npoints += 1\npoints", 4).value for _ in range(8 * TRIES)}
    assert whole == {"0", "2", "3"}
    fine = {float(falsified("\nround(sum(f(n) for n in (1, 2)) / 2, 2)", 1).value or 0) for _ in range(8 * TRIES)}
    assert len(fine) > 4 and max(fine) < 1


# ------------------------------------------------------------------------------------------------------ what comes back
def _output(kind: str, **more: Any) -> nbformat.NotebookNode:
    return nbformat.v4.new_output(kind, **more)


ERROR = _output("error", ename="AssertionError", evalue="", traceback=[])


def _shown(value: str) -> nbformat.NotebookNode:
    return _output("execute_result", data={"text/plain": value})


def _report(**passed: bool) -> nbformat.NotebookNode:
    cases = [{"title": title, "passed": there} for title, there in passed.items()]
    return _output("execute_result", data={"text/plain": "2.0", MIME: {"cases": cases}})


def test_a_false_check_that_raised_nothing_betrays() -> None:
    found = canary("assert f(2) == 4")
    assert not found.betrayed([], [ERROR])
    assert found.betrayed([], [])
    assert found.betrayed([], [_shown("2")])


def test_any_value_but_the_one_expected_betrays() -> None:
    found = canary("points = 1\npoints", 20)
    honest = [n for n in range(21) if not found.betrayed([_shown("1")], [_shown(str(n))])]
    assert len(honest) == 1
    assert not found.betrayed([_shown("1")], [ERROR])
    assert found.betrayed([_shown("1")], [])


def test_a_false_case_that_passed_betrays_unless_it_failed_when_it_was_true() -> None:
    found = canary(CASES)
    own = [_report(a=True, b=True, c=False)]
    assert not found.betrayed(own, [_report(a=True, b=False, c=False)])
    assert found.betrayed(own, [_report(a=True, b=True, c=False)])
    assert not found.betrayed(own, [_report(a=True, b=False, c=True)]), "a wrong answer met the changed one"
    assert not found.betrayed(own, [ERROR])
    assert found.betrayed(own, [_report(other=False)])
    assert found.betrayed(own, [_output("execute_result", data={MIME: "nonsense"})])
    assert found.betrayed(own, [])


# ------------------------------------------------------------------------------------------------------------- two runs
def _notebook() -> nbformat.NotebookNode:
    cells = [
        nbformat.v4.new_code_cell(f"assert {name}() == 4", metadata={"nbgrader": {"grade_id": name}}) for name in "fgh"
    ]
    return nbformat.v4.new_notebook(cells=cells)


def _watch(
    kernel: Callable[[str], bool], solution: nbformat.NotebookNode | None = None
) -> tuple[Execution, list[list[str]]]:
    """Return what becomes of f and g, which are guarded, and h, which is not; and the sources of each run."""
    runs: list[list[str]] = []

    def run(notebook: nbformat.NotebookNode) -> Execution:
        runs.append([cell.source for cell in notebook.cells])
        for cell in notebook.cells:
            cell.outputs = [] if kernel(cell.source) else [ERROR]
        return Execution(notebook, complete=True)

    return watched(run, _notebook(), {"f", "g"}, lambda: solution, run), runs


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


def test_nobody_is_accused_where_the_false_check_passes_in_the_instructors_notebook_too() -> None:
    own = nbformat.v4.new_code_cell("def f(): return 4")
    solution = nbformat.v4.new_notebook(cells=[own, *_notebook().cells])
    execution, runs = _watch(lambda source: "g()" not in source or source.endswith("== 4"), solution)
    assert execution.forged == ()
    assert [bool(cell.outputs) for cell in execution.notebook.cells] == [False, False, False]
    assert len(runs) == 3 and runs[2][0] == own.source
    assert [a == b for a, b in zip(runs[2][1:], [c.source for c in _notebook().cells], strict=True)] == [
        False,
        True,
        True,
    ]


def test_a_false_check_that_fails_in_the_instructors_notebook_accuses() -> None:
    runs = []

    def run(notebook: nbformat.NotebookNode) -> Execution:
        runs.append(notebook)
        honest = notebook.cells[0].source == "honest"
        for cell in notebook.cells:
            cell.outputs = [ERROR] if honest and not cell.source.endswith(("== 4", "honest")) else []
        return Execution(notebook, complete=True)

    solution = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("honest"), *_notebook().cells])
    execution = watched(run, _notebook(), {"f"}, lambda: solution, run)
    assert execution.forged == (f"cell 'f': {FORGED}: the kernel was tampered with",)
    assert len(runs) == 3


def test_what_has_earned_nothing_is_not_watched() -> None:
    for _ in range(TRIES):
        execution, runs = _watch(lambda _: False)
        assert execution.forged == ()
        assert len(runs) in {1, 2}
    assert watched(lambda notebook: Execution(notebook, complete=True), _notebook(), ()).forged == ()
