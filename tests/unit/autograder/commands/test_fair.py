"""The fair command on a small course: forms of a right result that its checks take, and those that they refuse."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from autograder.cli import main
from autograder.proof.forms import Fairness, read_fairness

TASK = '''\
import numpy as np

def scaled(x, by):
    """Return x times by, and the largest entry."""
    ### BEGIN SOLUTION
    return np.asarray(x) * by, float(np.max(x) * by)
    ### END SOLUTION
'''
TEST = """\
y, top = scaled([[1.0, 2.0], [3.0, 4.0]], 2)
assert y.tolist() == [[2.0, 4.0], [6.0, 8.0]]
assert type(top) is float and top == 8
assert y.flags.c_contiguous
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "source" / "ps1"
    folder.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    notebook = nbformat.v4.new_notebook()
    about = {"grade": False, "solution": False, "locked": True, "schema_version": 3, "task": False}
    notebook.cells = [
        nbformat.v4.new_markdown_cell("### Scaled\n\nReturns a new array, in C's order, and a `float`."),
        nbformat.v4.new_code_cell(TASK),
        nbformat.v4.new_code_cell(TEST),
    ]
    notebook.cells[1].metadata.nbgrader = about | {"grade_id": "scaled", "solution": True, "locked": False}
    notebook.cells[2].metadata.nbgrader = about | {"grade_id": "test-scaled", "grade": True, "points": 2}
    nbformat.write(notebook, folder / "problem.ipynb")
    return tmp_path


def _fair(root: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["fair", "ps1", "--course", str(root), *options])


def test_forms_that_a_check_refuses_are_shown_beside_the_text_until_it_says_so(course: Path) -> None:
    asked = _fair(course, "--check")
    assert asked.exit_code == 1
    assert "    Returns a new array, in C's order, and a `float`." in asked.stdout
    for form in ("numpy_scalar", "integer", "fortran", "strided"):
        assert f"({form}): test-scaled: AssertionError" in asked.stdout, asked.stdout
    for form in ("read_only", "subclass", "named"):
        assert f"({form})" not in asked.stdout, asked.stdout
    path = course / "source/ps1/refused.toml"
    path.write_text(
        '[[refused]]\ntask = "scaled"\nfunction = "scaled"\nforms = ["numpy_scalar", "integer"]\ntext = "a float"\n'
        '[[refused]]\ntask = "scaled"\nfunction = "scaled"\nforms = ["fortran", "strided", "view"]\n'
        'text = "a new array, in C\'s order"\n'
    )
    answered = _fair(course, "--check", "--write")
    assert answered.exit_code == 0, answered.output
    assert "forms of right results tried, 5 refused as the text says, 0 refused" in answered.stdout
    [found] = read_fairness(course)
    assert isinstance(found, Fairness)
    assert (found.lab, found.said, found.refused) == ("ps1", 5, 0)
    assert found.tried > 5


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('forms = ["integer"]\ntext = "an int"', "the task does not say so: 'an int'"),
        ('forms = ["subclass"]\ntext = "a new array"', "scaled, subclass: no check refuses it"),
        ('forms = ["square"]\ntext = "a float"', "no form 'square'"),
        ('form = ["integer"]\ntext = "a float"', "not of the four keys"),
    ],
)
def test_an_entry_that_does_not_hold_is_an_error(course: Path, entry: str, message: str) -> None:
    path = course / "source/ps1/refused.toml"
    path.write_text(f'[[refused]]\ntask = "scaled"\nfunction = "scaled"\n{entry}\n')
    found = _fair(course)
    assert found.exit_code == 1
    assert message in found.stderr


def test_numbers_of_a_part_are_not_kept(course: Path) -> None:
    found = _fair(course, "--write", "--task", "scaled")
    assert found.exit_code == 2
    assert "leave out --task" in found.stderr
