"""Whole gradings of what a reader of the grader's source has found: moved tests, cases beside hidden lines, tables."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.model import Status
from tests.system.foreign import Foreign, points

pytestmark = pytest.mark.slow

SECRET = "1764"


def test_a_test_that_was_moved_above_one_that_fills_what_it_compares_earns_nothing(tmp_path: Path) -> None:
    tests = {
        "fills": "for n in range(3, 6):\n    squares.append((n, square(n)))\nassert len(squares) == 3",
        "reads": "for n, found in squares:\n    assert found == n * n",
    }
    course = Foreign(tmp_path, tests, locked="squares = []")
    course.hand_in("right", "def square(x): return x * x")
    course.hand_in("moved", "def square(x): return 0")
    path = course.root / "submitted/moved/hw/hw.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(1, notebook.cells.pop(-1))
    nbformat.write(notebook, path)
    found = course.grade()
    assert points(found["right"]) == {"fills": 1, "reads": 1}
    assert points(found["moved"]) == {"fills": 1, "reads": 0}
    assert any("'reads' stood" in line for line in found["moved"].result.messages)


@pytest.mark.parametrize(
    "order", ["given answer after t2 t1", "given answer after t2 t1 t2", "given t1 answer after t2"]
)
def test_an_honest_notebook_with_a_moved_or_a_copied_test_has_its_points(order: str, tmp_path: Path) -> None:
    tests = {"t1": "assert square(3) == 9", "t2": "assert square(step) == 4"}
    course = Foreign(tmp_path, tests, after="step = 2")
    course.hand_in("honest", "def square(x): return x * x")
    path = course.root / "submitted/honest/hw/hw.ipynb"
    notebook = nbformat.read(path, as_version=4)
    by_name = {cell.id: cell for cell in notebook.cells}
    names = order.split()
    notebook.cells = [nbformat.from_dict({**by_name[n], "id": f"cell-{place}"}) for place, n in enumerate(names)]
    nbformat.write(notebook, path)
    found = points(course.grade()["honest"])
    assert found == {"t1": 1, "t2": 1}


def test_a_deleted_test_is_put_back_where_it_follows_the_others(tmp_path: Path) -> None:
    tests = {
        "t1": "error = sum((square(n) - n * n) ** 2 for n in range(5))\nassert error < 100",
        "t2": "assert error < 1e-6\n### BEGIN HIDDEN TESTS\nassert error < 1e-9\n### END HIDDEN TESTS",
    }
    course = Foreign(tmp_path, tests)
    course.hand_in("deletes", "error = 0.0\ndef square(x): return 0")
    path = course.root / "submitted/deletes/hw/hw.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "t2"]
    nbformat.write(notebook, path)
    assert points(course.grade()["deletes"])["t2"] == 0


SHADOW = """
import ast, os, sys
import IPython
class Passes(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
IPython.get_ipython().ast_transformers.append(Passes())
here, path = os.getcwd(), list(sys.path)
sys.path[:] = [part for part in sys.path if part not in ("", here)]
del sys.modules["sympy"]
import sympy as real
sys.modules["sympy"], sys.path[:] = real, path
globals().update(vars(real))
"""


def test_nothing_of_the_students_lies_beside_the_instructors_notebook_that_acquits(tmp_path: Path) -> None:
    tests = {"kernel": "import sys\nshell = get_ipython()\nassert square(3) == 9\nassert square(5) == 25"}
    course = Foreign(tmp_path, tests, locked="import sympy")
    course.hand_in("shadows", "def square(x): return 0")
    (course.root / "submitted/shadows/hw/sympy.py").write_text(SHADOW)
    course.hand_in("right", "def square(x): return x * x")
    found = course.grade()
    assert not course.isolated()
    assert points(found["right"]) == {"kernel": 1}
    assert (points(found["shadows"]), found["shadows"].result.status) == ({"kernel": 0}, Status.TAMPERED)


def test_a_case_beside_hidden_lines_tells_no_value_that_they_have_made(tmp_path: Path) -> None:
    tests = {
        "cases": f"""
            from labkit import check
            wanted = {{1: 1, 2: 4}}
            with check.case("small"):
                check.equal(square(2), wanted[2])
            ### BEGIN HIDDEN TESTS
            wanted[42] = {SECRET}
            ### END HIDDEN TESTS
            for n in wanted:
                with check.case(f"square({{n}})"):
                    check.equal(square(n), wanted[n])
            check.score(1)
            """,
        "later": """
            from labkit import check
            with check.case("all of them"):
                check.equal([square(n) for n in wanted], list(wanted.values()))
            check.score(1)
            """,
    }
    course = Foreign(tmp_path, tests)
    course.hand_in("right", "def square(x): return x * x")
    course.hand_in("wrong", "def square(x): return 5")
    found = course.grade()
    assert points(found["right"]) == {"cases": 1, "later": 1}
    assert points(found["wrong"]) == {"cases": 0, "later": 0}
    page = course.page("wrong")
    assert "small" in page and SECRET not in page


TABLE = """
    import sys
    name = get_ipython().__class__.__name__
    for value, want in [(2, 4), (3, 9), (5, 25)]:
        assert square(value) == want
        assert square(int(want ** 0.5)) == want
    """


def test_an_honest_answer_to_a_test_with_a_table_is_accused_in_no_draw(tmp_path: Path) -> None:
    course = Foreign(tmp_path, {"table": TABLE, "second": "assert square(2) == 4"})
    for number in range(6):
        course.hand_in(f"honest-{number}", f"def square(x): return x ** 2 + {number} - {number}")
    course.hand_in("wrong", "def square(x): return 2 * x")
    found = course.grade()
    assert "table" not in course.isolated()  # it needs the student's kernel, and is watched there
    honest = [outcome.result for student, outcome in found.items() if student.startswith("honest")]
    assert {(result.status, result.score) for result in honest} == {(Status.GRADED, 2.0)}
    assert points(found["wrong"]) == {"table": 0, "second": 1}
