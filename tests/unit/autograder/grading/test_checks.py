"""What a test is given of the cells above it."""

from __future__ import annotations

from typing import Any

import nbformat

from autograder.boundary.given import DATA, imports, names_given, trusted_names
from autograder.boundary.locked import statements
from autograder.grading.checks import checks_of, in_open_cells
from autograder.model import CellSpec


def row(name: str, source: str, **more: Any) -> CellSpec:
    about: dict[str, Any] = dict.fromkeys(("grade", "solution", "locked", "task"), False)
    about |= {"points": 0.0, "cell_type": "code", **more}
    return CellSpec(grade_id=name, source=source, checksum="", **about)


def test_what_a_test_above_imports_where_students_see_it_is_the_grader_s() -> None:
    hidden = "### BEGIN HIDDEN TESTS\nimport math\n### END HIDDEN TESTS"
    shown = f"from numpy.linalg import norm\nassert norm([1.0]) == 1\n{hidden}"
    rows = [
        row("a", "def f(x): return x", solution=True),
        row("a-check", shown, grade=True, locked=True, points=1.0),
        row("b-check", "norm([f(3)])", grade=True, locked=True, points=1.0),
    ]
    checks = checks_of(rows)
    assert checks.given["a-check"] == ()
    assert checks.given["b-check"] == ("from numpy.linalg import norm",)
    assert set(trusted_names(checks.given["b-check"], checks.theirs, DATA, "norm([f(3)])")) == {"norm"}


def test_an_import_that_may_fail_is_an_import() -> None:
    cell = "try:\n    import numpy as np\nexcept ImportError:\n    raise"
    fallback = "try:\n    import no_such_module as json\nexcept ImportError:\n    import json"
    checks = checks_of([row("a", f"{cell}\n{fallback}\ndef f(x): return x", solution=True), row("t", "1", grade=True)])
    assert checks.theirs == {"f"}
    found = trusted_names([imports([cell, fallback])], checks.theirs, DATA, "np.abs(json.dumps)")
    assert set(found) == {"np", "json"}
    other = "try:\n    import numpy as np\n    x = 1\nexcept ImportError:\n    np = None"
    assert imports([other]) == ""
    assert names_given([other], imported=False) == {"np", "x"}


def test_a_line_of_ipython_may_go_on_in_the_next() -> None:
    cell = "!echo hello \\\n   world, (\ndef far(a, b):\n    return abs(a - b)"
    assert names_given([cell]) == {"far"}
    assert len(statements("%timeit -n 1 \\\n f(1) \\\n  + 2\nx = 3\ny = 4")) == 3


def test_a_helper_in_a_cell_that_students_may_change_is_named() -> None:
    solution = cell("a", "limit = 3\ndef f(x): return x", solution=True)
    helper = cell("", "import numpy as np\nfar = 2\ndef near(a, b): return a == b")
    rows = [row("a", "def f(x): ...", solution=True), row("t", "assert near(f(1), np.ones(limit))", grade=True)]
    test = cell("t", rows[1].source, grade=True)
    assert list(in_open_cells(rows, [helper, solution, test])) == [
        "'t' uses near of cell 1, which students may change: it means what they make of it; lock that cell"
    ]
    assert not list(in_open_cells(rows, [solution, test, helper])), "what comes later is no helper of this test"
    task = cell("a", "def near(a, b): return a == b", solution=True)
    assert not list(in_open_cells(rows, [helper, task, test])), "what the task is to define is the student's"


def cell(name: str, source: str, **more: bool) -> Any:
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": name, **more}} if name else {})
