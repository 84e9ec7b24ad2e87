"""What a test means by names of locked cells, and what the student's code goes on to mean by them."""

from __future__ import annotations

import pytest

from autograder.boundary.given_again import made_again
from tests.unit.autograder.boundary.talk import Talk

HONEST = {
    "a class of the module's name": (
        "import datetime",
        """
        from datetime import datetime
        def year(text): return datetime.strptime(text, "%Y-%m-%d").year
        """,
        "assert year('2024-01-02') == 2024",
    ),
    "a function of the module's name": (
        "import random",
        """
        from random import random
        def draw(n): return [random() for _ in range(n)]
        """,
        "assert len(draw(3)) == 3",
    ),
    "a helper of one's own": (
        "def norm(v): return sum(x * x for x in v) ** 0.5",
        """
        def norm(v): return v, sum(x * x for x in v) ** 0.5
        def unit(v):
            v, length = norm(v)
            return [x / length for x in v]
        """,
        "assert unit([3.0, 4.0]) == [0.6, 0.8] and norm([3.0, 4.0]) == 5.0",
    ),
    "what a function carries": (
        "def log(m): log.lines.append(m)",
        """
        log.lines = []
        def f(x):
            log("f")
            return x
        """,
        "assert f(1) == 1 and list(log.lines) == ['f']",
    ),
    "a table of functions": (
        "def relu(x): return max(x, 0)",
        """
        SLOPES = {relu: lambda x: int(x > 0)}
        def slope(x): return SLOPES[relu](x)
        """,
        "assert slope(2) == 1 and SLOPES[relu](-1) == 0",
    ),
    "what a decorator remembers": (
        "@functools.lru_cache\ndef table(n): return [n]",
        """
        table(3).append(4)
        def last(n): return table(n)[-1]
        """,
        "assert last(3) == 4 and table(3)[-1] == 4",
    ),
    "defaults": (
        "def scaled(x, by=(2, 3), *, off=0): return x * by[0] + off",
        "def f(x): return scaled(x)",
        "assert f(3) == 6 == scaled(3)",
    ),
    "a function in a function": (
        "def outer(x):\n    def inner(y): return y + 1\n    return [inner(z) for z in (x, x)]",
        "outer.seen = 1",
        "assert outer(1) == [2, 2] and outer.seen == 1",
    ),
}


@pytest.mark.parametrize("case", HONEST)
def test_the_student_s_code_goes_on_with_its_own_names(case: str, talk: Talk) -> None:
    locked, code, test = HONEST[case]
    talk.code(f"import functools\n{locked}")
    talk.code(code)
    talk.locked = [["import functools"], [locked]]
    assert talk.test(test)["error"] is None


REBOUND = {
    "another function": "def norm(v): return 0",
    "another function of the same parameters": "def norm(v): return 0 * sum(x * x for x in v) ** 0.5",
    "other code": "norm.__code__ = (lambda v: 0).__code__",
    "other defaults": "norm.__defaults__ = (0,)",
    "the same code in another namespace": "import types\n"
    "norm = types.FunctionType(norm.__code__, {'sum': sum, 'root': lambda x: 0}, 'norm', norm.__defaults__)",
    "a value": "norm = 5",
    "nothing": "del norm",
    "a wrapper that lies": "class W:\n    def __init__(self, f): self.__wrapped__ = f\n"
    "    def __call__(self, v): return 0\nnorm = W(norm)",
    "what it uses": "def root(x): return 0",
    "what that uses": "import types\nmath = types.SimpleNamespace(sqrt=lambda x: 0)",
}
LOCKED = [
    "import math",
    "def root(x): return math.sqrt(x)",
    "def norm(v, by=1): return by * root(sum(x * x for x in v))",
]


@pytest.mark.parametrize("case", REBOUND)
def test_the_test_means_what_the_locked_cell_says(case: str, talk: Talk) -> None:
    talk.code("\n".join(LOCKED))
    talk.code(REBOUND[case])
    talk.locked = [LOCKED]
    assert talk.value("norm([3.0, 4.0])") == "5.0"


@pytest.mark.parametrize("cells", [[LOCKED], [[text] for text in LOCKED]], ids=["one cell", "cells of their own"])
def test_what_is_unchanged_is_not_made_again(cells: list[list[str]]) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        exec("\n".join(cell), namespace)
    assert made_again(namespace, cells) == {}
    before = dict(namespace)
    namespace["root"] = None
    assert set(made_again(namespace, cells)) == {"root", "norm"}
    assert namespace == before | {"root": None}


@pytest.mark.parametrize(
    "statement", ["import no_such_module", "from math import no_such_name", "@broken\ndef f(): pass"]
)
def test_what_cannot_be_made_again_is_left(statement: str) -> None:
    assert made_again({}, [[statement]]) == {}


def test_star_imports_are_compared_name_by_name() -> None:
    namespace: dict[str, object] = {}
    exec("from math import *", namespace)
    assert made_again(namespace, [["from math import *"]]) == {}
    namespace["sqrt"] = None
    again = made_again(namespace, [["from math import *", "def f(x): return sqrt(x)"]])
    assert again["sqrt"](9) == 3.0
    assert again["f"](9) == 3.0


ASSIGNED = {
    "Point": ["from collections import namedtuple", "Point = namedtuple('Point', 'x y', defaults=(0,))"],
    "Typed": ["from typing import NamedTuple", "Typed = NamedTuple('Typed', [('x', int)])"],
    "Color": ["import enum", "Color = enum.Enum('Color', 'RED GREEN')"],
    "Row": ["from dataclasses import make_dataclass", "Row = make_dataclass('Row', ['x', ('y', int, 0)])"],
    "Starred": ["from collections import *", "Starred = namedtuple('Starred', 'x y')"],
}
SPOILT = {
    "equal to all": "{0}.__eq__ = lambda *_: True",
    "another class": "{0} = type('{0}', (), {{}})",
    "a value": "{0} = 5",
    "a function": "def {0}(*_): return 0",
    "other code": "{0}.__new__ = lambda *_: 0",
}


@pytest.mark.parametrize("apart", [False, True], ids=["one cell", "cells of their own"])
@pytest.mark.parametrize("name", ASSIGNED)
def test_a_class_that_is_assigned_is_made_again_only_where_it_is_another(name: str, apart: bool) -> None:
    cells = [[text] for text in ASSIGNED[name]] if apart else [ASSIGNED[name]]
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec("\n".join(ASSIGNED[name]), namespace)
    assert made_again(namespace, cells) == {}
    for spoilt in SPOILT.values():
        other: dict[str, object] = {"__name__": "__main__"}
        exec("\n".join([*ASSIGNED[name], spoilt.format(name)]), other)
        assert set(made_again(other, cells)) == {name}, spoilt


def test_a_field_that_reads_another_one_makes_another_class() -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec("\n".join([*ASSIGNED["Point"], "Point.x, Point.y = Point.y, Point.x"]), namespace)
    assert set(made_again(namespace, [ASSIGNED["Point"]])) == {"Point"}


ONCE = """
names = set()
class Account:
    def __init__(self, name):
        if name in names: raise ValueError
        names.add(name)
"""
DATA = ["ann = Account('Ann')", "both = [ann, 1]"]


def test_data_that_the_students_code_makes_only_once_is_as_it_is() -> None:
    namespace: dict[str, object] = {}
    exec(ONCE + "\n".join(DATA), namespace)
    assert made_again(namespace, [DATA]) == {"ann": namespace["ann"], "both": namespace["both"]}


def test_data_of_locked_cells_that_the_student_keeps_from_being_made_is_nothing() -> None:
    cells = ["class Point:\n    pass", "GOAL = Point()"]
    namespace: dict[str, object] = {"GOAL": 7}
    exec(cells[0] + "\ndef spoilt(*_): raise ValueError\nPoint.__init__ = spoilt", namespace)
    assert type(made_again(namespace, [cells])["GOAL"]).__name__ in {"Unmade", "Point"}
