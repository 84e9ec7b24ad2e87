"""What the locked cells of a notebook give to its tests, and what of it the student's code has no say in."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from autograder.boundary.given import (
    DATA,
    FUNCTIONS,
    NOTHING,
    asked_of_kernel,
    imports,
    left_by_test,
    names_given,
    names_needed,
    trusted_names,
)
from autograder.boundary.locked import global_names, names_in, statements
from autograder.boundary.repeated import again_there, definitions
from tests.unit.autograder.boundary.talk import Talk

SETUP = """
%matplotlib inline
import math
import numpy as np
from fractions import Fraction as F

rng = np.random.default_rng(3)
points = rng.normal(size=4)
points[0] = 9.0
limit: float = 2 * math.pi
"""
HELPERS = """
def distance(a, b):
    return float(np.abs(np.asarray(a) - b).max())

def checked(x):
    return distance(solve(x), x)

class Point:
    pass

def origin():
    return Point()

answer = solve(3)
later = answer + 1
"""


def names(test: str, level: int = FUNCTIONS, theirs: set[str] | None = None) -> dict[str, Any]:
    return dict(trusted_names([SETUP, HELPERS], theirs or {"solve"}, level, test))


def test_imports_data_and_helpers_are_made_again_where_a_test_uses_them() -> None:
    found = names("np.allclose(points, limit)\ndistance(1, F(1, 2))")
    assert set(found) == {"np", "points", "limit", "distance", "F"}
    assert found["points"][0] == 9.0, "and what changes them is done, too"
    assert found["distance"]([1, 2], 1) == 1.0
    assert names("def f():\n    return math.pi\nf()").keys() == {"math"}
    assert names("1 + 1") == {}


def test_what_needs_the_student_s_code_or_is_a_class_stays_the_student_s() -> None:
    assert names("Point(), origin(), answer, solve") == {}
    with pytest.raises(NameError, match="answer"):  # what is reckoned from an answer is so here, and asks for that
        names("later")
    assert names("checked(1)").keys() == {"checked"}, "a function asks for the student's name when it needs it"
    assert names("checked(1)", DATA) == {}
    assert names("distance(1, 2)", DATA) == {}
    assert names("np.ones(2)", NOTHING) == {}
    assert names("np.ones(2)", theirs={"np", "solve"}) == {}, "a name that the student's cells bind, too"
    assert names("points", theirs={"rng", "solve"}) == {}, "nor what is made of it"


def test_only_what_is_needed_is_run() -> None:
    found = trusted_names(["import math", "raise_here = 1 / 0", "x = math.pi"], set(), FUNCTIONS, "x")
    assert set(found) == {"x"}
    with pytest.raises(ZeroDivisionError):
        trusted_names(["y = 1 / 0"], set(), FUNCTIONS, "y")


def test_a_cell_that_is_no_python_gives_nothing() -> None:
    assert [type(s).__name__ for s in statements("%%bash\nx = 1")] == ["Pass"]
    assert names_given(["def f(:", "!ls\nx = 1"]) == {"x"}
    assert global_names("def f(:\n x y") == {"def", "f", "x", "y"}


def test_definitions_are_the_imports_and_functions_that_can_be_made_twice() -> None:
    found = definitions([SETUP, HELPERS], {"solve", "origin"}, "checked(origin)")
    assert [text.split("(")[0].split("\n")[0] for cell in found for text in cell] == [
        "import math", "import numpy as np", "from fractions import Fraction as F", "def distance", "def checked",
        "class Point:",
    ]  # fmt: skip


def test_functions_that_a_test_does_not_come_to_use_are_not_made() -> None:
    found = definitions([SETUP, HELPERS], {"solve"}, "distance(1, 2)\npoints")
    assert [text.split("(")[0] for text in found[1]] == ["def distance"]


def test_what_a_test_binds_itself_before_it_looks_it_up_is_not_made() -> None:
    test = "points = 1\ndef distance(a, b):\n    return limit\nfor rng in [1]:\n    distance(points, rng)"
    assert names_needed(test) == {"limit", "rng"}, "a loop may bind nothing"
    assert names(test).keys() == {"limit", "rng"}
    assert names_needed("if 0:\n    x = 1\nx") == {"x"}
    assert names_needed("x += 1") == {"x"}


def test_a_test_leaves_what_it_shows_and_not_its_checks() -> None:
    labs = "from labkit import check\nwith check.case('one'):\n    check.equal(f(1), 1)\ny = check.score\nz = 3"
    assert left_by_test("import math\nassert f(1)\nx = f(math.pi)") == "import math\nx = f(math.pi)"
    assert left_by_test(labs) == "from labkit import check\nz = 3"


def test_what_a_test_can_only_find_in_the_student_s_process_is_asked_for_there() -> None:
    shown = "tol = 1e-6\ndef near(a, b):\n    return abs(a - b) < tol\ndef agree(x):\n    return near(solve(x), x)"
    found = partial(asked_of_kernel, [shown], {"solve"}, FUNCTIONS)
    assert not found("near(solve(1), 1)") & {"tol", "near"}, "these are the grader's"
    assert "tol" in found("agree(1)"), "a function that is defined again there looks it up there"
    assert "tol" in asked_of_kernel([shown], {"solve"}, NOTHING, "near(1, 1)")
    assert "result" in asked_of_kernel(["result = solve(1)"], {"solve"}, FUNCTIONS, "result")


def test_star_imports_are_the_graders_too(talk: Talk) -> None:
    talk.code("def isclose(*a, **k): return True\nassert_allclose = cos = isclose\ndef f(x): return 0")
    cells = ["from math import *\nfrom numpy.testing import *\nfrom no_such_module_here import *"]
    given = {"cells": cells, "theirs": ["f"], "level": FUNCTIONS}
    for source in ("assert isclose(f(1), 7241.5)", "assert_allclose(f(1), [7241.5])", "assert cos(f(1)) == 7241.5"):
        assert talk.test(source, given=given)["error"]["name"] == "AssertionError"
        assert "7241.5" not in talk.given()
    assert names_given(cells) == {"*"}
    assert imports([*cells, "x = 1\nimport os as system"]).endswith("import os as system")


def test_a_function_that_compares_and_is_not_the_students_task_is_given_nothing(talk: Talk) -> None:
    talk.code("""
        class Case:
            def assertAlmostEqual(self, *a): return True
        case = Case()
        def isclose(*a): return True
        def equal(a, b): return a == b
        """)
    given = {"cells": [], "theirs": ["equal"], "level": NOTHING}
    for source in ("assert isclose(1, 7241.5)", "case.assertAlmostEqual(1, 7241.5)", "isclose(a=7241.5)"):
        assert talk.test(source, given=given)["error"]["name"] == "TypeError"
        assert "7241.5" not in talk.given()
    assert talk.test("assert equal(1, 1) and not equal(1, 2)", given=given)["error"] is None, "the task itself"


def test_a_student_who_rebinds_a_locked_import_or_patches_it_changes_nothing(talk: Talk) -> None:
    talk.code("import types\nnp = types.SimpleNamespace(allclose=lambda *a, **k: True)\ndef solve(x): return 5")
    given = {"cells": [SETUP, HELPERS], "theirs": ["solve"], "level": FUNCTIONS}
    for source in ("assert np.allclose(solve(1), 7)", "assert distance(solve(1), 7) == 0"):
        assert talk.test(source, given=given)["error"]["name"] == "AssertionError"
    assert talk.test("assert np.allclose(solve(1), 5) and distance(solve(1), 5) == 0", given=given)["error"] is None


def test_an_error_of_a_locked_cell_is_the_test_s(talk: Talk) -> None:
    given = {"cells": ["broken = 1 / 0"], "theirs": [], "level": FUNCTIONS}
    assert talk.test("broken", given=given)["error"]["name"] == "ZeroDivisionError"
    assert talk.test("print('prints'); 3", given={**given, "cells": ["print('not this')"]})["printed"] == "prints\n"


def test_the_names_of_a_student_s_cell_can_be_asked_of_any_text() -> None:
    wanted, bound = names_in("x = f(y)\ndef g():\n    return z\n%time h(1)\nimport a.b as c")
    assert (set(wanted), set(bound)) == ({"f", "y", "z"}, {"x", "g", "c"})
    assert set(names_in("def g():\n    global n\n    n += 1\n    return x\nx = 1")[0]) == {"n"}
    deep = "x = " + "(" * 5000 + ")" * 5000
    nested = "\n".join(f"{' ' * depth}def f{depth}():" for depth in range(400)) + "\n" + " " * 401 + "y"
    for text in (deep, nested, "-" * 100_000 + "1", "a" * 10**6, "\0", "def", "x = [" * 3000, "lambda: " * 5000 + "1"):
        names_in(text)


def test_what_a_function_sets_of_its_own_is_no_name_of_the_cell() -> None:
    """Else a helper with `out[i] = ...` in it, and a solution that has such a line too, would be one name of both."""
    helper = "def rel_error(x, y):\n    out = np.empty(2)\n    out[0] = 1\n    return out"
    assert names_given([helper]) == {"rel_error"}
    assert names_given(["def f():\n    table[0] = 1", "def g(x):\n    global seen\n    seen[x] = 1"]) == {
        *("f", "table"),
        *("g", "seen"),
    }
    assert names_given(["def f(x):\n    def g():\n        x[0] = 1\n    return g"]) == {"f"}
    assert names_given(
        ["class A:\n    def f(self):\n        self.x = 1\n    @staticmethod\n    def g():\n        A.n = 2"]
    ) == {"A"}
    assert names_given(["if 1:\n    limits['low'] = 1\n    x.y = 2"]) == {"limits", "x"}


def test_what_a_test_binds_itself_is_not_looked_for_in_the_student_s_process() -> None:
    """Else the visible part of an earlier test, which happens to bind such a name too, would be run again there."""
    earlier = "found = numeric(f)\ntable = squares(4)"
    for test in (
        "with case('a'):\n    found = g(1)\n    close(found, 2)",
        "for found in range(3):\n    print(found)",
        "def helper(x):\n    return found + x\n\n\nfound = 3\nhelper(1)",
    ):
        assert asked_of_kernel([earlier], ["numeric", "squares", "f"], DATA, test) == frozenset(), test
    for test in ("assert table[-1] == 16", "with case('a'):\n    close(table[0], 1)", "table = table[:2]"):
        assert asked_of_kernel([earlier], ["numeric", "squares", "f"], DATA, test) == {"table"}, test


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("LIMIT = 3", {"LIMIT"}),
        ("import json\nLIMIT = json.loads('3')", set()),
        ("LIMIT = len(open('limit.txt').read())", set()),
        ("READ = open\nLIMIT = READ('limit.txt').read()", set()),
        ("import json\nLIMIT = json.loads(solve(3))", {"LIMIT"}),
        ("class Top:\n    value = 3\nLIMIT = Top()", {"LIMIT", "Top"}),
        ("from statistics import fmean as LIMIT", set()),
        ("def LIMIT(): return 3", {"LIMIT"}),
    ],
)
def test_what_modules_and_files_say_there_is_not_what_the_locked_text_says(text: str, named: set[str]) -> None:
    assert again_there([text], {"solve"}, "assert solve(1) == LIMIT", {"LIMIT"}) == named
