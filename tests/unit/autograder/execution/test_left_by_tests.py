from __future__ import annotations

import contextlib
import io
import time
from typing import Any

import pytest

from autograder.boundary import locked
from autograder.boundary.parsing import MAGIC
from autograder.execution.left_by_tests import LeftByTests

TEST = "import math\nlimit = 3\n\n\ndef near(x): return abs(x - limit) < 1\n\n\nassert near(f(1))"


def answer(question: str) -> list[Any]:
    """Return what the kernel would put out."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        eval(question, {})
    return [{"output_type": "stream", "text": printed.getvalue()}]


def left() -> LeftByTests:
    found = LeftByTests()
    found.note(TEST)
    return found


def test_a_cell_that_uses_a_name_of_a_test_above_gets_it_once() -> None:
    tests = left()
    assert tests.wanted(answer(tests.question("print(near(2))"))) == [TEST]
    assert tests.question("print(near(2))") == ""


def test_a_cell_that_uses_none_is_not_asked_about() -> None:
    tests = left()
    assert [tests.question(source) for source in ("x = 1", "", "math.pi", "nearly(1)")] == [""] * 4


def test_a_name_that_the_student_has_bound_since_is_the_student_s() -> None:
    tests = left()
    assert tests.wanted(answer(tests.question("limit = 9\nnear = None"))) == []
    assert tests.question("near(limit)") == ""


@pytest.mark.parametrize("text", ["", "7", "[", '[["near"]]', '{"near": 1}', "[" * 100_000, '[["near"], 3]'])
def test_what_cannot_be_read_of_an_answer_means_nothing(text: str) -> None:
    assert left().wanted([{"output_type": "stream", "text": text}]) == []


def test_the_grader_s_process_does_not_parse_what_a_student_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dotted name of 60 KB takes CPython a gigabyte; identifiers of combining characters, and others, minutes."""

    def parsed(*_: object) -> None:
        raise AssertionError("parsed")

    tests = left()
    monkeypatch.setattr("symtable.symtable", parsed)
    monkeypatch.setattr("ast.parse", parsed)
    monkeypatch.setattr(locked, "syntax_tree", parsed)
    assert "near" in tests.question("import " + "a." * 30_000 + "b\nnear(1)")


def test_a_long_line_is_looked_at_once() -> None:
    began = time.process_time()
    assert MAGIC.match(" " * 200_000) is None
    assert time.process_time() - began < 2  # seconds of the processor; 27 when each space was begun with anew


@pytest.mark.parametrize(
    "source",
    ["limit += 1", "limit = limit + 1", "for n in range(3): limit += n", "print(limit)\nlimit = 7", "limit[0] = 1"],
)
def test_a_cell_that_uses_a_name_before_it_binds_it_gets_what_the_test_has_bound(source: str) -> None:
    tests = left()
    assert tests.wanted(answer(tests.question(source))) == [TEST]


@pytest.mark.parametrize(
    "source", ["limit = 2\nlimit += 1", "for limit in [1]: print(limit)", "limit = 1\nprint(limit)"]
)
def test_a_cell_that_binds_a_name_first_gets_nothing_of_the_test_s(source: str) -> None:
    tests = left()
    assert tests.wanted(answer(tests.question(source))) == []


def test_what_a_test_needs_of_the_tests_above_it_runs_before_it() -> None:
    base, other, outs = "base = [1, 2]\nassert f(1)", "other = 7", "outs = [f(n) for n in base]\nassert outs == [1, 4]"
    tests = LeftByTests()
    for source in (base, other, outs):
        tests.note(source)
    assert tests.wanted(answer(tests.question("print(outs)"))) == [base, outs]
    assert tests.take(frozenset({"base"})) == []
