"""A solution becomes one line that says what is to be done, and what is left is Python."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nbgrader.preprocessors import ClearHiddenTests

from autograder.errors import SourceError
from autograder.markers import (
    BEGIN_HIDDEN,
    BEGIN_SOLUTION,
    DELIMITERS,
    END_HIDDEN,
    END_SOLUTION,
    canonical,
    clear,
    clear_solutions,
    strip_hidden,
)
from autograder.release.source import read_source


def cleared(code: str, task: str = "Task 2") -> str:
    return clear(code, task, "line {}".format)


def refused(code: str) -> str:
    with pytest.raises(SourceError) as caught:
        cleared(code)
    return str(caught.value)


def block(indent: str, *lines: str) -> str:
    return "".join(f"{indent}{line}\n" for line in (BEGIN_SOLUTION, *lines, END_SOLUTION))


@pytest.mark.parametrize(
    ("above", "indent", "name"),
    [
        ("def f(x):\n", "    ", "f"),
        ("async def f(x):\n", "    ", "f"),
        ("@cache\n@other(1)\ndef f(x):\n", "    ", "f"),
        ("class A:\n    def f(self):\n", "        ", "A.f"),
        ("class A:\n    @property\n    def f(self):\n", "        ", "A.f"),
        ("class A:\n    class B:\n        def f(self):\n", "            ", "A.B.f"),
        ("def f(x):\n    def g(y):\n", "        ", "f.g"),
        ("def f(x):\n    class A:\n        def g(self):\n", "            ", "f.A.g"),
        ("if True:\n    def f(x):\n", "        ", "f"),
        ("def f(x):\n    if x:\n", "        ", "f"),
        ("def f(x):\n    for y in x:\n        with y:\n", "            ", "f"),
        ('def f(x):\n    """Return x."""\n\n\n', "    ", "f"),
        ("def f(\n    x: int,\n    y: int = 2,\n) -> int:\n", "    ", "f"),
        ("def f(x):\n", "\t", "f"),
        ("def f(x):\n", " ", "f"),
    ],
)
def test_the_stub_names_the_task_and_the_function(above: str, indent: str, name: str) -> None:
    code = above + block(indent, "y = 1", "return y") + "\nz = 2\n"
    assert cleared(code) == f'{above}{indent}raise NotImplementedError("Task 2: {name}")\n\nz = 2\n'
    assert cleared(code, "") == f'{above}{indent}raise NotImplementedError("{name}")\n\nz = 2\n'


def test_code_around_the_block_stays() -> None:
    code = "def f(x):\n    x = x + 1\n" + block("    ", "y = x") + "    return y\n"
    assert cleared(code) == 'def f(x):\n    x = x + 1\n    raise NotImplementedError("Task 2: f")\n    return y\n'


def test_each_block_of_a_cell_becomes_a_stub() -> None:
    code = (
        "class A:\n    def f(self):\n"
        + block("        ", "return 1")
        + "\n    def g(self):\n"
        + block("        ", "return 2")
    )
    lines = cleared(code).split("\n")
    assert lines[2] == '        raise NotImplementedError("Task 2: A.f")'
    assert lines[5] == '        raise NotImplementedError("Task 2: A.g")'


def test_a_block_of_comments_only_is_a_block() -> None:
    assert (
        cleared("def f(x):\n" + block("    ", "# nothing yet"))
        == 'def f(x):\n    raise NotImplementedError("Task 2: f")\n'
    )


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (block("", "x = 1"), 1),
        ("x = 0\n\n" + block("", "x = 1"), 3),
        ("class A:\n" + block("    ", "x = 1"), 2),
        ("class A:\n" + block("    ", "def f(self):", "    return 1"), 2),
        ("if True:\n" + block("    ", "x = 1"), 2),
        ("def f():\n    return 1\n\n" + block("", "x = 1"), 4),
        ("f = lambda: 1\n" + block("", "x = 1"), 2),
    ],
)
def test_a_block_outside_a_function_is_an_error(code: str, line: int) -> None:
    assert refused(code).startswith(f"line {line}: a SOLUTION block outside a function\nhint: a task is one function")


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return (\n" + block("        ", "x + 1") + "    )\n",
        "def f(x):\n" + block("      ", "return 1") + "    return 2\n",
        "def f(x):\n    if x:\n" + block("    ", "    return 1") + "    return 2\n",
        "def f(x):\n    if x:\n        return 1\n"
        + block("    ", "else:", "    return 2")
        + "    else:\n        return 3\n",
    ],
)
def test_a_block_without_which_the_rest_is_not_python_is_an_error(code: str) -> None:
    assert "without its solution the cell is not Python" in refused(code)


def test_the_file_and_line_of_a_misplaced_block_are_named(lab: Callable[..., Path]) -> None:
    folder = lab(
        '# %% [markdown]\n# # Title\n\n# %% nbgrader={"grade_id": "f", "solution": true}\nx = 0\n' + block("", "x = 1")
    )
    with pytest.raises(SourceError, match=r"01_small\.py:6 \(f\): a SOLUTION block outside a function"):
        read_source(folder)


@given(st.lists(st.sampled_from(["    x = 1", "    y = x", "", "    # why"]), max_size=6), st.booleans())
def test_nothing_of_the_block_is_left(body: list[str], docstring: bool) -> None:
    code = [
        "def f(x):",
        *(['    """Return."""'] if docstring else []),
        f"    {BEGIN_SOLUTION}",
        *body,
        f"    {END_SOLUTION}",
    ]
    left = cleared("\n".join(code))
    ast.parse(left)
    assert left.count("\n") == 1 + docstring
    assert "BEGIN" not in left


# ------------------------------------------------------------------------------------------------------- the notebook
def notebook(*cells: tuple[str, str, str]) -> nbformat.NotebookNode:
    """Return a notebook of (type, grade_id, source); a cell with a grade_id is a solution."""
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    metadata = [{"nbgrader": {"grade_id": i, "solution": True}} if i else {} for _, i, _ in cells]
    return nbformat.v4.new_notebook(
        cells=[make[kind](source, metadata=m) for (kind, _, source), m in zip(cells, metadata, strict=True)]
    )


def test_the_task_is_that_of_the_heading_above() -> None:
    code = "def f():\n" + block("    ", "return 1")
    result = clear_solutions(
        notebook(
            ("code", "a", code),
            ("markdown", "", "### Task 1. One (2 points)"),
            ("code", "b", code),
            ("markdown", "", "### Something else\n\n### Task 2. Two\n\ntext"),
            ("markdown", "", "#### A part of it"),
            ("code", "c", code),
            ("markdown", "", "### Not a Task 9. heading"),
            ("code", "d", code),
        )
    )
    stubs = [cell.source.split('"')[1] for cell in result.cells if cell.cell_type == "code"]
    assert stubs == ["f", "Task 1: f", "Task 2: f", "f"]


def test_only_solution_cells_are_cleared() -> None:
    code = "def f():\n" + block("    ", "return 1")
    assert clear_solutions(notebook(("code", "", code))).cells[0].source == code


def test_a_written_answer_leaves_a_place_to_write() -> None:
    source = "Explain.\n\n### BEGIN SOLUTION\nBecause.\n### END SOLUTION"
    assert (
        clear_solutions(notebook(("markdown", "w", source))).cells[0].source == "Explain.\n\n_Write your answer here._"
    )


def test_a_misplaced_block_in_a_notebook_is_named_by_its_cell() -> None:
    with pytest.raises(SourceError, match="cell 'a', line 1: a SOLUTION block outside a function"):
        clear_solutions(notebook(("code", "a", block("", "x = 1"))))


def test_hidden_blocks_are_stripped() -> None:
    source = f"a = 1\n{BEGIN_HIDDEN}\nb = 2\n{END_HIDDEN}\nc = 3\n    {BEGIN_HIDDEN}\nd = 4\n    {END_HIDDEN}"
    assert strip_hidden(source) == "a = 1\nc = 3"
    assert strip_hidden("a = 1") == "a = 1"


def test_a_hidden_block_that_is_not_closed_hides_the_rest() -> None:
    assert strip_hidden(f"a = 1\n{BEGIN_HIDDEN}\nb = 2") == "a = 1"


LINES = st.sampled_from([
    "a = 1", "    b = 2", "", "# BEGIN HIDDEN TESTS", BEGIN_HIDDEN, "### BEGIN HIDDEN TESTS ###",
    "x = 1  # BEGIN HIDDEN TESTS", "# END HIDDEN TESTS", END_HIDDEN, "y = 2  # END HIDDEN TESTS",
    "#END HIDDEN TESTS, BEGIN VERBORGEN", "## BEGIN VERBORGEN", "  # END VERBORGEN", "'### BEGIN HIDDEN TESTS'",
])  # fmt: skip


@given(st.lists(LINES, min_size=1, max_size=9), st.sampled_from([DELIMITERS, ("BEGIN VERBORGEN", "END VERBORGEN")]))
def test_what_is_hidden_is_what_nbgrader_hides(lines: list[str], delimiters: tuple[str, str]) -> None:
    source = "\n".join(lines)
    begin, end = delimiters
    assume(delimiters == DELIMITERS or "HIDDEN TESTS" not in source)  # ours hide in any course
    nbgrader = ClearHiddenTests(begin_test_delimeter=begin, end_test_delimeter=end)
    cell = nbformat.v4.new_code_cell(source)
    try:
        nbgrader._remove_hidden_test_region(cell)
    except RuntimeError:  # it releases nothing
        return
    assert strip_hidden(source, delimiters) == cell.source
    ours = canonical(source, delimiters)
    assert [line for line in ours.split("\n") if not line.lstrip().startswith("#")] == [
        line for line in lines if not line.lstrip().startswith("#")
    ]
    kept, inside = [], False
    for line in ours.split("\n"):
        inside = inside or line.strip() == BEGIN_HIDDEN
        kept += [] if inside or line.strip() == END_HIDDEN else [line]
        inside = inside and line.strip() != END_HIDDEN
    assert "\n".join(kept) == cell.source
