"""What a test says is told only where no hidden line, of its own or of an earlier test, can have taken part."""

from __future__ import annotations

import pytest

from autograder.grading.secrets import (
    beside_hidden,
    reached_by_hidden,
    read_first,
    sure_lines,
    without_hidden_values,
)
from autograder.markers import strip_hidden
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
        _row("made", HIDDEN.format("secret = f(7)\nassert secret == 49")),
        _row("prints", "print(globals().get('secret'), secret)"),
    ]
    assert beside_hidden(rows) == {"reads", "derived", "further", "prints"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import numpy as np\nfrom labkit import check\nfound = np.ones(2)\ncheck.equal(found, 1)", set()),
        ("print(found)\nfound = 1", {"print", "found"}),
        ("found = found + 1", {"found"}),
        ("found += 1", {"found"}),
        ("x = [found for found in y]", {"y"}),
        ("x = [i for i in y]\nassert i", {"y", "i"}),
        ("table = 1\ndef want(n):\n    a = 2\n    return a * n + table\nassert want(1)", set()),
        ("def want(n):\n    return table\nassert want(1)\ntable = 1", {"table"}),
        ("with check:\n    found = 1\n    assert found\nassert found", {"check", "found"}),
        ("with check:\n    found = 1\nwith check:\n    found = 2\n    assert found", {"check"}),
        ("for x in y:\n    assert x\nassert x", {"y", "x"}),
        ("for x, z in y:\n    assert x == z", {"y"}),
        ("x = [found for found in found]\nz = max(y, key=lambda y: 1)", {"found", "max", "y"}),
        ("def want():\n    return [n for n in found], (lambda found: found)(1)\nwant()", {"found"}),
        ("with open(p) as file:\n    file.read()", {"open", "p"}),
        ("if a:\n    b = 1\nelse:\n    b = 2\nassert b", {"a", "b"}),
        ("try:\n    b = f()\nexcept E as e:\n    assert e", {"f", "E", "e"}),
        ("def one():\n    global n\n    n = n + 1\none()", {"n"}),
        ("def want():\n    return table\nother = 1\ntable = 2\nassert want()", set()),
        ("def want():\n    return deep()\ndef deep():\n    return table\nw = want\ntable = 1\nassert w()", {"table"}),
        ("with a:\n    def want():\n        return table\nassert want()\ntable = 1", {"a", "want", "table"}),
        ("def want(n=table):\n    return n\ntable = 1", {"table"}),
        ("@cache\ndef want():\n    return table\ntable = 1\nwant()", {"cache"}),
        ("@register\ndef want():\n    return table\ntable = 1", {"register", "table"}),
        ("class Want:\n    size = table\ntable = 1", {"table"}),
        ("with check.unchanged(x=x):\n    found = f(x)\nassert found", {"check", "x", "f"}),
        ("with check.unchanged(x=x), other:\n    found = f(x)\nassert found", {"check", "x", "f", "other", "found"}),
    ],
)
def test_a_name_is_read_first_unless_the_cell_has_surely_bound_it(source: str, names: set[str]) -> None:
    assert read_first(source) == names


def test_a_test_that_binds_a_name_anew_is_not_beside_hidden_lines_that_bind_it_too() -> None:
    own = "from labkit import check\nfound = f(1)\ndef want(n): return n\n"
    own += "with check.case('a'):\n    found = f(2)\n    check.equal(found, want(2))\n"
    hidden = HIDDEN.format("found = f(9)\nwant = 81")
    rows = [_row("first", own + hidden), _row("second", own), _row("third", "assert found")]
    assert beside_hidden(rows) == {"third"}


def _locked(name: str, source: str) -> CellSpec:
    return CellSpec(name, "code", source, "", True, False, False, False, 0.0)


def test_what_a_test_reads_through_functions_counts_as_what_it_reads() -> None:
    helper = "expected = [1]\ndef check_it(n): assert f(n) in expected, expected\ncheck_it(0)\n"
    rows = [
        _locked("given", "TABLE = {1: 1}\nOTHER = {2: 4}\ndef show(): print(TABLE)\ndef put(k, v): TABLE[k] = v"),
        _row("fills", helper + HIDDEN.format("expected += [144]\nput(12, 144)\nassert f(2) == OTHER[2]")),
        _row("through", "check_it(12)"),
        _row("shows", "show()"),
        _row("plain", "assert f(2) == OTHER[2]"),
    ]
    assert beside_hidden(rows) == {"through", "shows"}


def test_a_case_that_a_function_of_a_function_begins_is_not_told() -> None:
    one = "def one(n, want):\n    with check.case('powers'):\n        check.equal(f(n), want)\n"
    several = "def several(pairs):\n    for n, want in pairs:\n        one(n, want)\nseveral([(1, 1)])\n"
    begun = "with check.case('powers'):\n            check.equal(f(n), want)\n"
    method = f"class S:\n    def one(self, n, want):\n        {begun}"
    suite = f"{method}s = S()\n"
    for source in (one + several + HIDDEN.format("several([(12, 144)])"), suite + HIDDEN.format("s.one(12, 144)")):
        (case,) = without_hidden_values([_case("powers")], source, whole=False)
        assert case["hidden"], source


def _case(title: str, *, hidden: bool = False) -> dict[str, object]:
    return {"title": title, "hidden": hidden, "passed": False, "message": "expected 144, got 0"}


VISIBLE = "with check.case('small'):\n    check.equal(f(2), 4)\n"
LOOP = "for n in (2, 3):\n    with check.case(f'f({n})'):\n        check.equal(f(n), n * n)\n"
LARGE = "with check.case('large'):\n    check.equal(f(12), 144)"


@pytest.mark.parametrize(
    ("source", "titles", "told"),
    [
        (VISIBLE + HIDDEN.format(LARGE), ["small", "large"], ["small"]),
        (VISIBLE + LOOP + HIDDEN.format(LARGE), ["small", "f(2)", "f(3)", "large"], ["small", "f(2)", "f(3)"]),
        (LOOP + HIDDEN.format(LOOP), ["f(2)", "f(12)"], []),
        (LOOP + HIDDEN.format(LOOP.replace("case", "hidden_case")), ["f(2)"], ["f(2)"]),
        ("table = [1]\n" + HIDDEN.format("table += [2]") + "\n" + LOOP, ["f(1)", "f(2)"], []),
        (VISIBLE + HIDDEN.format(VISIBLE), ["small"], []),
        (VISIBLE + HIDDEN.format("for t in names:\n    with check.case(t):\n        f(12)"), ["small", "small"], []),
        ("def t(n):\n    with check.case('t'):\n        f(n)\nt(2)\n" + HIDDEN.format("t(12)"), ["t", "t"], []),
        ("def t(n):\n    with check.case('t'):\n        f(n)\nt(2)\n" + HIDDEN.format("g(12)"), ["t"], ["t"]),
        (VISIBLE, ["small", "of another cell"], ["small"]),
    ],
)
def test_a_case_that_may_hold_a_hidden_value_counts_as_hidden(source: str, titles: list[str], told: list[str]) -> None:
    found = without_hidden_values([_case(title) for title in titles], source, whole=False)
    assert [case["title"] for case in found if not case["hidden"]] == told
    written = {"small", "large", "t", "a hidden case"}
    assert {case["title"] for case in found if case["hidden"]} <= written
    assert not [case for case in without_hidden_values(found, source, whole=True) if not case["hidden"]]


def test_a_hidden_case_keeps_what_its_author_called_it() -> None:
    source = HIDDEN.format(LOOP.replace("case", "hidden_case"))
    assert without_hidden_values([_case("f(12)", hidden=True)], source, whole=False)[0]["title"] == "f(12)"


_FILLING = {
    "a part of it": ("tables = {'small': [1]}\nsmall = tables['small']", "small.append('secret')", "tables"),
    "in a loop": ("tables = [[1], [2]]", "for row in tables: row.append('secret')", "tables"),
    "by a function": ("def put(table, x): table.append(x)\ntables = []", "put(tables, 'secret')", "tables"),
    "by a function that finds it": ("tables = []\ndef found(): return tables", "found().append('secret')", "tables"),
    "what it holds": ("row = []\ntables = []\ntables.append(row)", "row.append('secret')", "tables"),
    "what holds it": ("tables = []\nbox = {'t': tables}", "box['t'].append('secret')", "tables"),
    "a view": ("import numpy as np\ntables = np.zeros(9)\nflat = tables.reshape(-1)", "flat[0] = 7241.5", "tables"),
    "read by a lambda": ("tables = {'small': [1]}\nshow = lambda: f'{tables}'", "tables['x'] = 'secret'", "show()"),
    "read by a partial": ("import functools\ntables = []\nshow = functools.partial(str, tables)", "tables.append('x')",
                          "show()"),
    "a class's": ("class C:\n    rows = []\nc = C()", "c.rows.append('secret')", "C.rows"),
    "a closure's": ("def box():\n    rows = []\n    return (lambda: rows), rows.append\nget, put = box()",
                    "put('secret')", "get()"),
    "a chain's": ("from collections import ChainMap\ntables = {}\nchain = ChainMap(tables)", "chain[1] = 7241",
                  "tables"),
    "a view's": ("tables = bytearray(2)\nview = memoryview(tables)", "view[0] = 72", "tables"),
    "an object's": ("from types import SimpleNamespace\ntables = []\nbox = SimpleNamespace(rows=tables)",
                    "box.rows.append('secret')", "tables"),
    "an imported function's": ("from numpy import ones, split\ntables = ones(4)\nleft, right = split(tables, 2)",
                               "left[0] = 7241", "tables"),
    "by a function of the library's": ("import operator\ntables = []", "operator.iadd(tables, ['secret'])", "tables"),
    "in a match": ("tables = [[1]]", "match tables:\n    case [row, *_]: row.append('secret')", "tables"),
    "a decorator's": ("kept = []\ndef keep(f):\n    kept.append(f)\n    return f\ntables = []\n@keep\ndef show(): "
                      "return tables", "tables.append('secret')", "kept[0]()"),
    "a generator's": ("tables = [[1]]\nrows = (row for row in tables)", "next(rows).append('secret')", "tables"),
}  # fmt: skip


@pytest.mark.parametrize(("locked", "hidden", "shown"), _FILLING.values(), ids=_FILLING)
@pytest.mark.parametrize("place", ["locked", "an earlier test", "this test"])
def test_what_hidden_lines_fill_by_another_name_is_beside_them(
    locked: str, hidden: str, shown: str, place: str
) -> None:
    hidden = f"### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    above = [f"{locked}\nassert f(1)\n{hidden}"] if place == "this test" else [locked, f"assert f(1)\n{hidden}"]
    cells = [(cell, strip_hidden(cell)) for cell in (*above, f"assert f(2), {shown}", "assert f(3)")]
    assert reached_by_hidden(cells, [0] if place == "locked" else []) == [len(above)]


@pytest.mark.parametrize(
    ("locked", "test", "later"),
    [
        ("X = [[1]]", "x = X[0]\nassert f(x)\n{}assert f(X[:1]) == 3\ny = X[0]\nassert f(y)\n{}", "assert f(X[0])"),
        ("X = [1]\nimport numpy as np", "{}q = np.asarray(f(X))\nq[0] = 1\nassert q.sum() == 2\n{}", "assert f(X)"),
        ("import math\nR = math.pi * 2", "assert f(1)\n{}assert math.isclose(f(2), 3)\n{}", "assert f(R), R"),
        ("import torch\nF = torch.nn.functional\nx = torch.ones(2)", "y = F.relu(x)\n{}y += 1\nassert f(y)\n{}",
         "assert f(F.relu(x)), x"),
        ("TEXT = 'ab'", "{}assert f(TEXT.upper()) == TEXT.count('a')\n{}", "assert f(TEXT), TEXT"),
        ("class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)",
         "{}s = Stack()\ns.push(3)\nassert f(s)\n{}", "t = Stack()\nassert f(t) == 4, t"),
    ],
)  # fmt: skip
def test_what_hidden_lines_only_read_is_told_of_as_before(locked: str, test: str, later: str) -> None:
    test = test.format("### BEGIN HIDDEN TESTS\n", "### END HIDDEN TESTS\n")
    assert reached_by_hidden([(cell, strip_hidden(cell)) for cell in (locked, test, later)], [0]) == []
