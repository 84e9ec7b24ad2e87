"""What a test says is told only where no hidden line, of its own or of an earlier test, can have taken part."""

from __future__ import annotations

import pytest

from autograder.grading.secrets import beside_hidden, sure_lines
from autograder.model import CellSpec

HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"


def _row(name: str, source: str) -> CellSpec:
    return CellSpec(name, "code", source, "", True, True, False, False, 1.0)


@pytest.mark.parametrize(
    ("source", "sure"),
    [
        ("assert f(1)\nassert f(2)", {1, 2}),
        ("assert f(1)\n\n" + HIDDEN.format("assert f(2)"), {1, 2}),
        ("a = 1\nrun(f, [1,\n" + HIDDEN.format("2") + "\n])", {1}),
        ("a = 1\nwith check():\n    f(1)\n" + HIDDEN.format("    f(2)"), {1}),
        ("a = 1\nfor x in y:\n    f(x)\n" + HIDDEN.format("    g(x)") + "\nb = 2", {1}),
        ("def t():\n    f(1)\n" + HIDDEN.format("    f(2)") + "\nt()", set()),
        (HIDDEN.format("assert f(2)") + "\nassert f(1)", set()),
        ("%time f(1)\nassert f(1)\n" + HIDDEN.format("f(2)"), {1, 2}),
    ],
)
def test_lines_are_sure_whose_statement_ends_above_the_first_hidden_one(source: str, sure: set[int]) -> None:
    assert set(sure_lines(source)) & set(range(1, 3)) == sure


def test_a_test_that_uses_what_hidden_lines_may_have_filled_is_beside_them() -> None:
    rows = [
        _row("plain", "table = {1: 1}\nassert f(1) == table[1]"),
        _row("fills", "extra = []\nassert f(1)\n" + HIDDEN.format("table[12] = 144\nextra.append(7)")),
        _row("reads", "assert f(12) == table[12]"),
        _row("other", "assert f(2) == 4"),
        _row("derived", "sizes = sorted(extra)\nassert f(3)"),
        _row("further", "assert f(9) == sizes[0]"),
        _row("again", "again = f(3)\nassert again == 9"),
    ]
    assert beside_hidden(rows) == {"reads", "derived", "further"}
