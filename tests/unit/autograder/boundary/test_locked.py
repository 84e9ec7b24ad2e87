"""The statements of locked cells: what each binds, uses, and may do to the names of others."""

from __future__ import annotations

import pytest

from autograder.boundary.given import trusted_names
from autograder.boundary.locked import Statement, all_statements, names_in

FILLED = """
CASES, ROWS, KNOWN = [], {}, {}
def add(case): CASES.append(case)
def setup():
    for number in (1, 2): add(number)
setup()
def load():
    global LOADED
    LOADED = 30
load()
class Filler:
    def fill(self): ROWS["top"] = 9
Filler().fill()
def register(f):
    KNOWN[f.__name__] = f
    return f
@register
def eleven(): return 11
class Base:
    def __init_subclass__(cls): KNOWN[cls.__name__] = cls
class Derived(Base): pass
CASES.reverse()
print(CASES)
other = list(CASES)
"""


def _of(source: str) -> Statement:
    return all_statements((source,))[-1]


@pytest.mark.parametrize(
    ("source", "binds", "uses"),
    [
        ("import os.path as p", "p", ""),
        ("a, (b, *c) = d", "a b c", "d"),
        ("x[0] = y", "x", "x y"),
        ("x.y = 1", "x", "x"),
        ("x += 1", "x", "x"),
        ("for i in items: total(i)", "i", "i items total"),
        ("def f(a, b=c): return a + d", "f", "c d"),
        ("(n := m)", "n", "m"),
        ("with open(f) as h: t = h.read()", "h t", "f h open"),
        ("del x", "x", ""),
    ],
)
def test_what_a_statement_binds_and_uses(source: str, binds: str, uses: str) -> None:
    found = _of(source)
    assert (found.binds, found.uses) == (frozenset(binds.split()), frozenset(uses.split()))


@pytest.mark.parametrize("source", ["x = f(y)", "import a", "def f(): g(x)", "class A: x = y", "assert f(x)",
                                    "print(x)", "display(x)", "x: int = f(y)"])  # fmt: skip
def test_what_only_binds_or_shows_is_not_there_for_what_it_does(source: str) -> None:
    assert not _of(source).acts


@pytest.mark.parametrize("source", ["f(x)", "x.append(1)", "for i in x: f(i)", "@f\ndef g(): pass", "if x: f()",
                                    "class A(B): pass", "with f(x): pass", "x.y.z = 1", "await f(x)"])  # fmt: skip
def test_what_may_change_what_others_bind_acts(source: str) -> None:
    assert _of(source).acts or "x" in _of(source).binds


def test_a_call_touches_what_its_functions_use_and_binds_what_they_declare_global() -> None:
    calls = [s for s in all_statements((FILLED,)) if s.acts and not s.defines]
    assert [sorted(s.touches & {"CASES", "ROWS", "KNOWN"}) for s in calls] == [["CASES"], [], ["ROWS"], ["CASES"]]
    assert [sorted(s.binds) for s in calls] == [[], ["LOADED"], [], ["CASES"]]


@pytest.mark.parametrize(
    ("name", "value"), [("CASES", [2, 1]), ("ROWS", {"top": 9}), ("LOADED", 30), ("other", [2, 1])]
)
def test_data_that_a_call_fills_is_made_with_that_call(name: str, value: object) -> None:
    assert trusted_names([FILLED], (), 4, name)[name] == value


def test_registered_functions_and_classes_are_there() -> None:
    known = trusted_names([FILLED], (), 4, "KNOWN")["KNOWN"]
    assert set(known) == {"eleven", "Derived"} and known["eleven"]() == 11


@pytest.mark.parametrize(
    ("source", "binds"),
    [
        ("for x in xs:\n    rows.append(x)", "rows x"),
        ("if a:\n    table[3].items.clear()", "table"),
        ("import heapq\nheapq.heappush(queue, 1)", "queue"),
        ("from random import shuffle\nshuffle(rows)", "rows"),
        ("import numpy as np\nnp.random.seed(0)", ""),
        ("def f(): pass\nf.cache_clear()", ""),
        ("lambda: rows.append(1)", ""),
        ("n = rows.pop()", "n rows"),
        ("[rows.append(x) for x in xs]", "rows"),
        ("found = list(map(rows.append, xs))", "found rows"),
        ("rows.update(a) if a else table.add(1)", "rows table"),
        ("a and log.emit(a)", "log"),
        ("for x in xs:\n    print(x, file=log)", "log x"),
        ("import json\njson.dump(xs, log)", "log"),
        ("import numpy as np\nnp.add.at(rows, 1, 2)", "rows"),
        ("list.append(rows, 1)", "rows"),
        ("total = a.add(b)", "total"),
        ("print(rows, sep=x)", ""),
        ("ys = np.sort(xs)", "ys"),
    ],
)
def test_a_statement_binds_what_it_fills(source: str, binds: str) -> None:
    assert all_statements((source,))[-1].binds == frozenset(binds.split())


@pytest.mark.parametrize(
    "late", ["def f():\n    y = 1\n    global y", "nonlocal x", "def f(a, a): pass", "x = " + "-" * 3000 + "1"]
)
def test_a_cell_that_python_refuses_late_binds_nothing(late: str) -> None:
    assert all_statements((late, "x = 1"))[-1].binds == {"x"}
    assert len(all_statements((late,))) == 0


@pytest.mark.parametrize("deep", ["x = " + "+".join("y" * 1500), "x = y" + ".b()" * 400])
def test_a_statement_too_deep_to_be_written_again_binds_its_names(deep: str) -> None:
    (found,) = all_statements((deep,))
    assert found.binds == {"x"} and "y" in found.uses


def test_functions_that_use_each_other_end() -> None:
    rounds = all_statements(("def f(): return g()\ndef g(): return f() + x\nf()",))
    assert rounds[-1].touches == {"f", "g", "x"}


def test_what_the_student_s_code_has_a_say_in_is_not_run() -> None:
    filled = "CASES = []\ndef setup(): CASES.append(solve(1))\nsetup()"
    assert trusted_names([filled], {"solve"}, 3, "CASES") == {"CASES": []}


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("while queue:\n    x = queue.pop()", "queue"),
        ("for x in range(3):\n    rows.append(x)", "range rows"),
        ("if size:\n    rows = []\n    rows.append(size)", "size"),
        ("if size:\n    xs = np.append(xs, size)", "np size xs"),
        ("rows = []\nfor x in range(3):\n    rows.append(x)", "range"),
    ],
)
def test_a_block_uses_first_what_it_fills_and_does_not_bind(source: str, used: str) -> None:
    found = names_in(source)[0]
    assert found - {"xs"} == frozenset(used.split()) - {"xs"}  # bound in the block: who knows whether before
