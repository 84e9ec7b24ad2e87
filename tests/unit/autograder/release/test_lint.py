"""What a test cell may trust, how it ends, and what may stand outside a case."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import SourceError
from autograder.release.lint import check_tests, defined_names
from autograder.release.source import read_source

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
    def forward(self):
        ### BEGIN SOLUTION
        return 1
        ### END SOLUTION

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
        'from labkit import check\nwith check.case("c"):\n    check.equal(Net(), f(CONSTANT))',
        'from labkit import check\nwith check.case("c"):\n    check.equal(given(1), Layer())',
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


WANT = """\
from labkit import check
def want(x):
    return 2 * x
with check.case("open"):
    check.close(f(3), OPEN)
### BEGIN HIDDEN TESTS
with check.hidden_case("more"):
    check.close(f(4), want(4))
### END HIDDEN TESTS"""


def test_students_cannot_read_what_computes_what_hidden_cases_expect(lab: WriteLab) -> None:
    line, said = refused(lab, WANT.replace("OPEN", "6"))
    assert (line, said.splitlines()[0]) == (2, "students can read want, which hidden cases alone use")
    lint(lab, WANT.replace("OPEN", "want(3)"))
    helper = "def want(x):\n    return 2 * x\n"
    hidden = "### BEGIN HIDDEN TESTS\n"
    lint(lab, WANT.replace("OPEN", "6").replace(helper, "").replace(hidden, hidden + helper))


@pytest.mark.parametrize("line", ["check.equal(x, x)", "x = np.random.default_rng(x).random()"])
def test_a_helper_that_checks_or_draws_may_stand_open(lab: WriteLab, line: str) -> None:
    lint(
        lab,
        WANT.replace("OPEN", "6")
        .replace("    return", f"    {line}\n    return")
        .replace("from", "import numpy as np\nfrom", 1),
    )


def test_a_helper_that_another_test_shows_may_stand_open(lab: WriteLab) -> None:
    head = HEAD.replace('"points": 3', '"points": 1')
    second = '# %% nbgrader={"grade_id": "g-check", "grade": true, "points": 2}'
    tests = WANT.replace("OPEN", "want(3)"), WANT.replace("OPEN", "6")
    check_tests(read_source(lab(f"{head}{tests[0]}\ncheck.score(1)\n\n{second}\n{tests[1]}\ncheck.score(2)\n")))


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
    "body",
    [
        "f(1)",
        "check.raises(ValueError, f, 1)",
        "with check.unchanged(x=[1]):\n        f(1)",
        "g()",
        "count = check.counted(print)\n    f(count)",
    ],
)
def test_a_case_that_compares_nothing_is_a_guard(lab: WriteLab, body: str) -> None:
    test = f'from labkit import check\ndef g():\n    return f(1)\n\nwith check.case("c"):\n    {body}'
    assert refused(lab, test)[1].startswith("the case compares nothing with what is right")
    lint(lab, test.replace('"c"', '"c", guard=True'))


@pytest.mark.parametrize(
    "test",
    [
        'with check.case("c"):\n    assert f(1)',
        'with check.case("c", guard=True), check.unchanged(x=[1]):\n    f(1)',
        'for i in range(3):\n    with check.case(f"c{i}", guard=True):\n        f(i)',
        'def g():\n    return f(1)\n\nwith check.case("c"):\n    check.equal(g(), 2)',
        'def g():\n    check.close(f(1), 2)\ndef h():\n    g()\n\nwith check.case("c"):\n    h()',
        'g = lambda: f(1)\nwith check.case("c", guard=True):\n    g()',
        'count = check.counted(print)\nwith check.case("c"):\n    f(count)\n    check.calls(count, 1)',
    ],
)
def test_inside_a_case_all_is_allowed(lab: WriteLab, test: str) -> None:
    lint(lab, "from labkit import check\n" + test)


# --------------------------------------------------------------------------------------------- what nothing satisfies
def _case(*lines: str) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f'from labkit import check\nimport numpy as np\ny = np.ones(3)\nwith check.case("c"):\n{body}'


VACUOUS = {
    "allclose": ("check.true(np.allclose(f(y), y), 'close')", "allclose stretches shapes"),
    "allclose, by a name": ("got = f(y)\n    assert np.allclose(got, y)", "allclose stretches shapes"),
    "allclose, the other way": ("assert np.allclose(y, f(y))", "allclose stretches shapes"),
    "all of a list": ("assert all(n > 0 for n in f(y))", "an empty answer passes"),
    "all of a comprehension": ("check.true(all([n > 0 for n in f(y)]), 'positive')", "an empty answer passes"),
    "all of a result": ("assert all(f(y))", "an empty answer passes"),
    "all of a map": ("assert all(map(bool, f(y)))", "an empty answer passes"),
    "all of items": ("assert all(k for k, v in f(y).items())", "an empty answer passes"),
    "the method all": ("assert (f(y) == y).all()", "an empty answer passes"),
    "the method all, as a bool": ("check.true(bool((f(y) == y).all()), 'the same')", "an empty answer passes"),
    "numpy's all": ("assert np.all(f(y) == y)", "an empty answer passes"),
    "isclose": ("assert np.isclose(f(y), y).all()", "an empty answer passes"),
    "not any": ("assert not np.any(np.isnan(f(y)))", "an empty answer passes"),
    "not any, the method": ("check.true(not (f(y) < 0).any(), 'none below 0')", "an empty answer passes"),
    "not any of a list": ("assert not any(n < 0 for n in f(y))", "an empty answer passes"),
    "no count": ("assert np.count_nonzero(f(y)) == 0", "an empty answer passes"),
    "among others": ("assert 1 == 1 and all(f(y))", "an empty answer passes"),
    "zip": ("for a, b in zip(f(y), y):\n        check.close(a, b)", "zip ends with the shorter one"),
    "zip, the other way": ("for a, b in zip(y, f(y)):\n        assert a == b", "zip ends with the shorter one"),
    "zip in all": ("assert all(a == b for a, b in zip(f(y), y))", "an empty answer passes"),
    "zip in enumerate": ("for i, (a, b) in enumerate(zip(f(y), y)):\n        assert a == b", "over an empty answer"),
    "a loop": ("for a in f(y):\n        check.at_least(a, 0)", "over an empty answer no check runs"),
    "a loop over an attribute": ("for a in Net().layers:\n        check.at_least(a, 0)", "over an empty answer"),
    "a loop with items": ("for k, v in f(y).items():\n        check.equal(v, 1)", "over an empty answer"),
    "another's size": ("check.equal(len(f(2 * y)), 3)\n    assert all(f(y))", "an empty answer passes"),
    "a number's equality is no size": ("assert (f(y) == 1).all()", "an empty answer passes"),
}


@pytest.mark.parametrize(("lines", "said"), VACUOUS.values(), ids=VACUOUS)
def test_a_check_that_an_empty_answer_satisfies_is_an_error(lab: WriteLab, lines: str, said: str) -> None:
    line, what = refused(lab, _case(lines))
    assert line >= 5
    assert what.startswith(said)
    assert "\nhint: " in what


@pytest.mark.parametrize(
    "lines",
    [
        "check.close(f(y), y)",
        "got = np.array(f(y))\n    check.shape(got, (3,))\n    check.true(bool((got > 0).all()), 'positive')",
        "got = f(y)\n    assert got.shape == (3,) and np.allclose(got, y)",
        "got = list(f(y))\n    check.equal(len(got), 3)\n    for a, b in zip(got, y):\n        check.close(a, b)",
        "got = list(f(y))\n    check.equal(len(got), 3)\n    for a in got:\n        check.close(a, 1)",
        "got = np.asarray(f(y))\n    check.shape(got, (3,))\n    for a in got:\n        assert a == 1",
        "got = np.asarray(f(y))\n    assert got.shape == (3,) and len(got) == 3\n    assert (got > 0).all()",
        "for layer, w in zip(Net().layers, y, strict=True):\n        check.close(layer.w, w)",
        "for n, (a, w) in enumerate(zip(f(y), y, strict=True)):\n        check.close(a, w + n)",
        "def two(x):\n        return Net(), [x, x]\n    net, own = two(y)\n    for w in own:\n"
        "        check.close(net.forward(), w)",
        "def expect(parts):\n        for w in parts:\n            check.close(f(w), w)\n    expect([y, 2 * y])",
        "got = [f(n) for n in range(3)]\n    for n, a in enumerate(got):\n        check.equal(a, n)",
        "kept = {}\n    for n in y:\n        kept[n] = f(n)\n    for n, a in kept.items():\n        assert a == n",
        "got = dict(f(y))\n    check.equal(sorted(got), [1, 2])\n    for n in got:\n        check.equal(got[n], n)",
        "total = 0\n    for a in f(y):\n        total += a\n    check.equal(total, 3)",
        "check.equal([a > 0 for a in f(y)], [True] * 3)",
        "if f(y):\n        check.equal(f(1), 1)\n    else:\n        check.equal(f(1), 2)",
        "for a, b in zip(f(y), y, strict=True):\n        check.close(a, b)",
        "assert all(a == b for a, b in zip(f(y), y, strict=True))",
        "assert all(f(n) == n for n in range(3))",
        "assert all([f(1) == 1, f(2) == 2])",
        "assert all(isinstance(f(n), int) for n in (1, 2))",
        "for n in (1, 2):\n        check.equal(f(n), n)",
        "for n, want in zip([1, 2], [1, 4]):\n        check.equal(f(n), want)",
        "assert any(n > 0 for n in f(y))",
        "assert not all(f(y))",
        "assert np.any(f(y))",
        "assert not np.any(y < 0)",
        "assert np.allclose(y, y)",
        "found = list(f(y))\n    check.equal(len(found), 2)\n    kinds = [type(a) is int for a in found]\n"
        "    check.true(all(kinds), 'integers')",
        "check.true(len(f(y)) == 3, 'three')",
        "got = np.array(f(y))\n    assert np.array_equal(got, y)\n    assert (got == y).all()",
    ],
)
def test_a_check_whose_size_is_known_is_left_alone(lab: WriteLab, lines: str) -> None:
    lint(lab, _case(lines))


UNCOUNTED = {
    "measured, then read again": "check.equal(len(Net().layers), 2)\n    for a in Net().layers:\n        assert a",
    "measured, but not read": "got = f(y)\n    check.equal(len(got), 3)\n    for a in got:\n        check.equal(a, 1)",
    "the shape of what is read again": "got = f(y)\n    check.shape(got, (3,))\n    assert (got > 0).all()",
    "all of what is read again": "got = f(y)\n    check.equal(len(got), 3)\n    assert all(a > 0 for a in got)",
    "read, but not measured": "got = list(f(y))\n    for a in got:\n        check.equal(a, 1)",
    "measured after the loop": "got = list(f(y))\n    for a in got:\n        assert a\n    check.equal(len(got), 2)",
    "measured with theirs": "n, got = f(2), list(f(y))\n    check.equal(len(got), n)\n    assert all(got)",
    "two of theirs in step": "for a, b in zip(f(y), f(y), strict=True):\n        check.close(a, b)",
    "with enumerate": "for n, a in enumerate(Net().layers):\n        check.equal(a, n)",
    "their number of times": "for n in range(len(f(y))):\n        check.equal(f(n), n)",
    "a part that they choose": "for n in y[: f(y)]:\n        check.equal(f(n), n)",
    "with gradients": "for a in f(y):\n        check.gradient(np.sum, y, a)",
    "made by a helper": "def two():\n        return Net(), [y]\n    net, own = two()\n    for a in net.layers:\n"
    "        check.equal(a, 1)",
    "checked by a helper": "def expect(a):\n        check.equal(a, 1)\n    for a in f(y):\n        expect(a)",
    "handed to a helper": "def expect(parts):\n        for a in parts:\n            assert a\n    expect(f(y))",
    "collected in a loop": "kept = []\n    for a in f(y):\n        kept.append(a)\n    for a in kept:\n"
    "        assert a",
    "picked": "kept = [n for n in y if f(n)]\n    for a in kept:\n        check.equal(a, 1)",
    "among others": "for a in [*f(y), 1]:\n        check.equal(a, 1)",
    "in the second of a name": "def g():\n        pass\n    def g():\n        for a in f(y):\n            assert a\n"
    "    check.equal(f(2), 2)\n    g()",
    "in a comprehension": "[check.equal(a, 1) for a in f(y)]",
    "in a comprehension that picks": "[check.equal(n, 1) for n in y if f(n)]",
    "while they like": "while f(y):\n        check.equal(f(2), 1)",
    "unless they leave": "for n in y:\n        if f(n):\n            continue\n        check.equal(f(2), 1)",
    "if they like": "if f(y):\n        check.equal(f(2), 1)",
}


@pytest.mark.parametrize("lines", UNCOUNTED.values(), ids=UNCOUNTED)
def test_how_often_a_check_runs_is_not_up_to_the_student(lab: WriteLab, lines: str) -> None:
    line, what = refused(lab, _case("check.equal(f(1), 1)", *lines.split("\n    ")))
    assert line >= 6
    assert "\nhint: " in what


def test_what_one_case_has_measured_is_not_measured_in_the_next(lab: WriteLab) -> None:
    first = _case("got = list(f(y))", "check.equal(len(got), 3)")
    more = '\nwith check.case("d"):\n    for a in got:\n        check.equal(a, 1)'
    lint(lab, first)
    assert refused(lab, first + more)[1].startswith("over an empty answer no check runs")
