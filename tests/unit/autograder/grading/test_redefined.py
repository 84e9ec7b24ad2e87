"""Which functions and classes of locked cells a submission gives another meaning, for each test."""

from __future__ import annotations

import nbformat
import pytest

from autograder.execution import Checks
from autograder.grading.redefined import made_of, redefined
from autograder.model import CellScore

LOCKED = """
import math
from math import sqrt
class Node:
    def size(self): return sqrt(abs(LIMIT))
def area(r): return math.pi * r
def twice(r): return area(r) * 2
LIMIT = 3
"""
TESTS = {"node": "assert isinstance(make(), Node)", "through": "assert twice(1) > LIMIT", "none": "assert own(1) == 1"}


def found(*cells: str) -> dict[str, set[str]]:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in cells]
    fixed = nbformat.v4.new_code_cell(LOCKED, metadata={"nbgrader": {"grade_id": "given", "locked": True}})
    notebook.cells.append(fixed)
    checks = Checks(given=dict.fromkeys(TESTS, (LOCKED,)), theirs=frozenset({"own"}))
    return {name: set(names) for name, names in redefined(notebook, made_of(TESTS, checks)).items()}


@pytest.mark.parametrize(
    "cell",
    [
        "class Node:\n    x = 1",
        "Node.__repr__ = lambda self: 'n'",
        "Node = print",
        "if True:\n    class Node: pass",
        "%matplotlib inline\nclass Node: pass",
        "from shapes import Node",
        "setattr(Node, 'size', len)",
        "for Node in (int, str): pass",
    ],
)
def test_a_class_that_is_bound_or_changed_counts_where_it_is_used(cell: str) -> None:
    assert found("x = 1", cell) == {"node": {"Node"}}


def test_what_a_test_uses_through_a_function_or_class_of_a_locked_cell_counts() -> None:
    assert found("def area(r): return r") == {"through": {"area"}}
    assert found("from numpy import sqrt") == {"node": {"sqrt"}}
    assert found("LIMIT = 4") == {"node": {"LIMIT"}, "through": {"LIMIT"}}
    assert found("def abs(x): return x") == {"node": {"abs"}}
    assert found("from numpy import *") == {"node": {"*"}, "through": {"*"}}


@pytest.mark.parametrize(
    "cell",
    [
        "own = Node",
        "x = Node()",
        "import math, math.x",
        "from math import sqrt",
        "import math.sqrt as sqrt",
        "def f():\n    Node = 1",
        "???",
        "TOP = 4",
    ],
)
def test_what_only_uses_it_or_imports_the_same_does_not(cell: str) -> None:
    assert found(cell) == {}


def test_a_person_reads_the_points_and_the_names() -> None:
    from autograder.grading.redefined import say_redefined

    score = CellScore("lab", "node", 1.0, 2.0)
    assert say_redefined(score, {"Node", "area"}).startswith(
        "'node': 1 of 2, and a cell of the student's gives Node, area"
    )
