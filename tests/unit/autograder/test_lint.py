"""What a test cell may trust, how it ends, and what may stand outside a case."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import SourceError
from autograder.lint import check_tests, defined_names
from autograder.source import read_source

WriteLab = Callable[..., Path]

HEAD = """\
# %% nbgrader={"grade_id": "setup", "locked": true}
import json
import numpy as np
from labkit import load, check as checked
import labkit.plot
helper = 1
def given(x):
    return f(x)
class Layer:
    pass

# %%
loose = 2

# %% nbgrader={"grade_id": "f", "solution": true}
import math

CONSTANT = 3

def f(x):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION

class Net:
    pass

# %% nbgrader={"grade_id": "f-check", "grade": true, "points": 3}
"""
FIRST = HEAD.count("\n") + 1
"""The line of a test's first line in the file."""


def lint(lab: WriteLab, test: str, end: str = "check.score(3)") -> None:
    check_tests(read_source(lab(f"{HEAD}{textwrap.dedent(test).strip()}\n{end}\n")))


def refused(lab: WriteLab, test: str, end: str = "check.score(3)") -> tuple[int, str]:
    """Return the line within the test, and what is wrong."""
    with pytest.raises(SourceError) as caught:
        lint(lab, test, end)
    where, what = str(caught.value).split(" (f-check): ")
    return int(where.rpartition(":")[2]) - FIRST + 1, what


# --------------------------------------------------------------------------------------------------------------- names
@pytest.mark.parametrize(
    "test",
    [
        "from labkit import check",
        'from labkit import check\nimport numpy as np\nwith check.case("c"):\n    check.close(f(np.ones(1)), 1)',
        'from labkit import check\nwith check.case("c"):\n    Net(); f(CONSTANT)',
        'from labkit import check\nwith check.case("c"):\n    given(1); Layer()',
        "from labkit import check\nx = [y for y in range(3)]; z = {a: b for a, b in enumerate(x)}; sum(q for q in x)",
        "from labkit import check\ndef g(a, *b, c=1, **d):\n    e = a\n    def h():\n        nonlocal e\n        e = 2",
        "from labkit import check\nclass A:\n    x = 1\n    y = x\n    def m(self):\n        return super().__init__()",
        "from labkit import check\nfor i in range(2):\n    pass\nprint(i)",
        "from labkit import check\nwith open(__name__) as file:\n    file.read()",
        "from labkit import check\ntry:\n    pass\nexcept ValueError as error:\n    error",
        "from labkit import check\nif (n := 3) > 2:\n    n",
        "from labkit import check\nmatch 3:\n    case int(k):\n        k",
        "from labkit import check\nimport os.path\nos.getcwd()",
        "from labkit import check\nx: int = 3\nf'{x:>{x}}'",
    ],
)
def test_a_test_may_use_what_it_imports_defines_or_tests(lab: WriteLab, test: str) -> None:
    lint(lab, test)


@pytest.mark.parametrize(
    ("test", "line", "name"),
    [
        ("from labkit import check\nhelper", 2, "helper"),
        ("from labkit import check\nloose", 2, "loose"),
        ("from labkit import check\n\n\nnp.ones(1)", 4, "np"),
        ("from labkit import check\njson", 2, "json"),
        ("from labkit import check\nmath.pi", 2, "math"),
        ("from labkit import check\nnowhere", 2, "nowhere"),
        ("check.case", 1, "check"),
        ("from labkit import check\nload('digits')", 2, "load"),
        ("from labkit import check\nlabkit.plot", 2, "labkit"),
        ("from labkit import check\ndef g():\n    def h():\n        return helper\n    return h", 4, "helper"),
        (
            "from labkit import check\ndef a():\n    helper = 1\n    return helper\ndef b():\n    return helper",
            6,
            "helper",
        ),
        ("from labkit import check\nx = [helper for _ in range(3)]", 2, "helper"),
        ("from labkit import check\nx = {1: y for y in helper}", 2, "helper"),
        ("from labkit import check\nx = sum(helper for _ in range(2))", 2, "helper"),
        ("from labkit import check\nx = lambda: helper", 2, "helper"),
        ("from labkit import check\nx = lambda y=helper: y", 2, "helper"),
        ("from labkit import check\nclass A:\n    x = helper", 3, "helper"),
        ("from labkit import check\nclass A(helper):\n    pass", 2, "helper"),
        ("from labkit import check\nclass A:\n    x = 1\n    def m(self):\n        return x", 5, "x"),
        ("from labkit import check\nx = f'{helper}'", 2, "helper"),
        ("from labkit import check\nx = f'{1:{helper}}'", 2, "helper"),
        ("from labkit import check\n@helper\ndef g():\n    pass", 2, "helper"),
        ("from labkit import check\ndef g(x: helper):\n    pass", 2, "helper"),
        ("from labkit import check\ndef g() -> helper:\n    pass", 2, "helper"),
        ("from labkit import check\ndef g(x=helper):\n    pass", 2, "helper"),
        ("from labkit import check\nx: helper = 1", 2, "helper"),
        ("from labkit import check\ndef g():\n    global helper\n    return helper", 4, "helper"),
        ("from labkit import check\nhelper += 1\nx = helper2", 3, "helper2"),
        ("from labkit import check\nmatch 3:\n    case helper.x:\n        pass", 3, "helper"),
        ("from labkit import check\nasync def g():\n    await helper", 3, "helper"),
        ("from labkit import check\nx = 1\ndel x\ny = helper[x:1]", 4, "helper"),
    ],
)
def test_a_name_from_anywhere_else_is_an_error(lab: WriteLab, test: str, line: int, name: str) -> None:
    found, what = refused(lab, test)
    assert what.startswith(f"the test uses {name!r}, which it neither imports nor defines")
    assert found == line


def test_a_star_import_is_an_error(lab: WriteLab) -> None:
    assert refused(lab, "from labkit import check\nfrom math import *") == (2, "a star import\nhint: import each name")


def test_a_task_named_like_a_built_in_function_cannot_be_tested(lab: WriteLab, small: str) -> None:
    source = small.replace("softmax", "sum").replace("sum(axis=", "max(axis=").replace('"sum', '"softmax')
    with pytest.raises(SourceError, match="'sum', which is a built-in name and a task's as well"):
        check_tests(read_source(lab(source)))


def test_a_relative_import_of_something_called_labkit_does_not_count(lab: WriteLab, small: str) -> None:
    source = small.replace("from labkit import check, plot", "from .labkit import bench, plot").replace(
        "check.score(2)", "bench\ncheck.score(2)"
    )
    with pytest.raises(SourceError, match="the test uses 'bench'"):
        check_tests(read_source(lab(source)))


def test_defined_names_are_a_cell_s_own(lab: WriteLab) -> None:
    source = read_source(lab(HEAD + "check.score(3)\n"))
    assert defined_names(source.cells[2]) == {"f", "Net", "CONSTANT"}


# ------------------------------------------------------------------------------------------------------ score and cases
@pytest.mark.parametrize(
    ("test", "end", "line"),
    [
        ("x = 1", "y = 2", 3),
        ("x = 1", "check.score(2)", 3),
        ("x = 1", "check.score(3.0)", 3),
        ("x = 1", "check.score(3);", 3),
        ("x = 1", "check.score(3)  # done", 3),
        ("x = 1", "x = check.score(3)", 3),
        ("x = 1", "    ", 3),
        ("x = 1", "if x:\n    check.score(3)", 4),
        ("check.score(3)", "check.score(3)", 3),
        ('with check.case("c"):\n    check.score(3)', "check.score(3)", 4),
        ("### BEGIN HIDDEN TESTS", "check.score(3)\n### END HIDDEN TESTS", 4),
        ('"""\ncheck.score(3)\n"""', 'x = """\ncheck.score(3)"""', 6),
    ],
)
def test_a_test_ends_with_its_score_said_once(lab: WriteLab, test: str, end: str, line: int) -> None:
    found, what = refused(lab, "from labkit import check\n" + test, end)
    assert what == "a test cell ends with its score, said once\nhint: end it with check.score(3)"
    assert found == line


def test_points_with_decimals_are_written_as_python_does(lab: WriteLab, small: str) -> None:
    source = small.replace('"points": 2', '"points": 0.25').replace("check.score(2)", "check.score(0.25)")
    check_tests(read_source(lab(source, points=1.25)))


def test_a_hidden_block_holds_hidden_cases_only(lab: WriteLab) -> None:
    test = 'from labkit import check\n### BEGIN HIDDEN TESTS\nwith check.case("c"):\n    pass\n### END HIDDEN TESTS'
    assert refused(lab, test) == (
        3,
        "check.case in a hidden block\nhint: hidden blocks use check.hidden_case, so that feedback shows no values",
    )


def test_a_hidden_case_stands_in_a_hidden_block(lab: WriteLab) -> None:
    line, what = refused(lab, 'from labkit import check\nx = 1\nwith check.hidden_case("c"):\n    pass')
    assert (line, what.splitlines()[0]) == (3, "check.hidden_case outside a hidden block")


@pytest.mark.parametrize(
    ("test", "line", "problem"),
    [
        ("x = f(1)", 2, "f is used outside a case"),
        ("net = Net()", 2, "Net is used outside a case"),
        ("x = list(map(f, [1]))", 2, "f is used outside a case"),
        ("x = [f(y) for y in range(3)]", 2, "f is used outside a case"),
        ("for y in range(3):\n    f(y)", 3, "f is used outside a case"),
        ("g = check.counted(f)", 2, "f is used outside a case"),
        ("def g(x=f):\n    pass", 2, "f is used outside a case"),
        ("@f\ndef g():\n    pass", 2, "f is used outside a case"),
        ("class A(Net):\n    pass", 2, "Net is used outside a case"),
        ("def g():\n    return f(1)\n\nx = g()", 5, "g is used outside a case"),
        ("def g():\n    return f(1)\ndef h():\n    return g()\nx = h()", 6, "h is used outside a case"),
        ("def g(x):\n    check.close(x, 1)\n\ng(1)", 5, "g is used outside a case"),
        ("check.close(1, 1)", 2, "check.close is called outside a case"),
        ("with check.unchanged(x=[1]):\n    pass", 2, "check.unchanged is called outside a case"),
        ('with check.case("c"):\n    f(1)\nf(2)', 4, "f is used outside a case"),
    ],
)
def test_what_may_fail_stands_inside_a_case(lab: WriteLab, test: str, line: int, problem: str) -> None:
    found, what = refused(lab, "from labkit import check\n" + test)
    assert what.splitlines()[0] == problem
    assert found == line


@pytest.mark.parametrize(
    "test",
    [
        'with check.case("c"):\n    f(1)',
        'with check.case("c"), check.unchanged(x=[1]):\n    f(1)',
        'for i in range(3):\n    with check.case(f"c{i}"):\n        f(i)',
        'def g():\n    return f(1)\n\nwith check.case("c"):\n    g()',
        'g = lambda: f(1)\nwith check.case("c"):\n    g()',
        'count = check.counted(print)\nwith check.case("c"):\n    f(count)\n    check.calls(count, 1)',
    ],
)
def test_inside_a_case_all_is_allowed(lab: WriteLab, test: str) -> None:
    lint(lab, "from labkit import check\n" + test)
