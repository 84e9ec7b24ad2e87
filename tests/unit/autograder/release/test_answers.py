"""Answers put in the place of a lab's own."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.errors import SourceError
from autograder.release.answers import Variant, blank_out, find_variants, put_answers, read_variant
from autograder.release.build import build

WrongFile = Callable[[str], Path]


@pytest.fixture
def answer(tmp_path: Path) -> WrongFile:
    def write(text: str) -> Path:
        path = tmp_path / "wrong" / "answer.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def solved(lab: Callable[..., Path], small: str) -> nbformat.NotebookNode:
    """The instructor's notebook of a lab with a function, a decorated one, and a class."""
    more = '''
# %% nbgrader={"grade_id": "more", "solution": true}
import functools

LIMIT = 3


@functools.cache
def twice(x):
    """Return 2 x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


class Net:
    """A network."""

    def forward(self, x):
        ### BEGIN SOLUTION
        return x
        ### END SOLUTION
'''
    return nbformat.reads(build(lab(small + more)).source_notebook.decode(), as_version=4)


def source(notebook: nbformat.NotebookNode, grade_id: str) -> str:
    return str(next(cell.source for cell in notebook.cells if cell.id == grade_id))


def refused(path: Path, *, wrong: bool = True) -> str:
    with pytest.raises(SourceError) as caught:
        read_variant(path, wrong=wrong)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_wrong_answer_names_the_checks_that_catch_it(answer: WrongFile) -> None:
    path = answer(
        '"""Fails softmax-check, other-check: overflows\nfor large scores."""\n\n\ndef softmax(z):\n    return z\n'
    )
    found = read_variant(path, wrong=True)
    assert (found.fails, found.reason) == (("softmax-check", "other-check"), "overflows\nfor large scores.")
    assert found.code == "def softmax(z):\n    return z\n"


def test_a_wrong_answer_says_of_which_checks_it_earns_nothing(answer: WrongFile) -> None:
    found = read_variant(answer('"""Earns nothing of a-check, b-check, fails c-check: zeros."""\nx = 1\n'), wrong=True)
    assert (found.nothing, found.fails) == (("a-check", "b-check"), ("a-check", "b-check", "c-check"))
    alone = read_variant(answer('"""Earns nothing of a-check: zeros."""\nx = 1\n'), wrong=True)
    assert (alone.nothing, alone.fails, alone.reason) == (("a-check",), ("a-check",), "zeros.")


def test_a_right_answer_says_what_is_different(answer: WrongFile) -> None:
    found = read_variant(answer('"""With a loop."""\nx = 1\n'), wrong=False)
    assert (found.fails, found.reason, found.code) == ((), "With a loop.", "x = 1\n")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("def f(): pass\n", "answer.py:1: a wrong answer says which check catches it\nhint: begin with"),
        ('"""Overflows."""\n', "answer.py:1: a wrong answer says which check catches it"),
        ('"""Fails Softmax: x."""\n', "answer.py:1: a wrong answer says"),
        ('"""Fails a-check"""\n', "answer.py:1: a wrong answer says"),
        ('"""Fails a-check: x."""\n\ndef f(:\n', "answer.py:3: invalid syntax"),
        ('"""Fails a-check: x."""\n\0', "answer.py:1: source code string cannot contain null bytes"),
        ("", "answer.py:1: a wrong answer says"),
    ],
)
def test_an_answer_file_that_is_none_is_an_error(answer: WrongFile, text: str, error: str) -> None:
    assert refused(answer(text)).startswith(error)


def test_an_answer_that_is_no_text_file_is_an_error(answer: WrongFile) -> None:
    path = answer("")
    path.write_bytes(b"\xff")
    assert refused(path).startswith("answer.py: cannot be read: 'utf-8' codec can't decode byte 0xff")
    path.unlink()
    path.mkdir()
    assert refused(path).startswith("answer.py: cannot be read: [Errno 21] Is a directory")


def test_a_right_answer_without_a_sentence_is_an_error(answer: WrongFile) -> None:
    assert refused(answer("x = 1\n"), wrong=False).startswith("answer.py:1: no docstring\nhint: say in one sentence")


def test_answers_are_found_in_the_order_of_their_names(answer: WrongFile, tmp_path: Path) -> None:
    answer('"""Fails a-check: x."""\n')
    (tmp_path / "wrong" / "above.py").write_text('"""Fails b-check: x."""\n')
    (tmp_path / "wrong" / "notes.txt").write_text("no answer")
    assert [variant.path.name for variant in find_variants(tmp_path, "wrong")] == ["above.py", "answer.py"]
    assert find_variants(tmp_path, "right") == []


def test_a_function_takes_the_place_of_its_namesake_with_its_helpers(solved: nbformat.NotebookNode) -> None:
    code = "import math\n\nHALF = 0.5\n\n\ndef helper(z):\n    return z\n\n\ndef softmax(z):\n    return helper(z)\n"
    put_answers(solved, Variant(Path("a.py"), code, ""))
    result = source(solved, "softmax")
    assert [getattr(node, "name", type(node).__name__) for node in ast.parse(result).body] == [
        "Import", "Assign", "helper", "softmax",
    ]  # fmt: skip
    assert "exponentials" not in result
    assert "SOLUTION" not in result


def test_decorators_are_replaced_too_and_neighbours_stay(solved: nbformat.NotebookNode) -> None:
    code = "@staticmethod\ndef twice(x):\n    return 3 * x\n\n\nclass Net:\n    pass\n"
    put_answers(solved, Variant(Path("a.py"), code, ""))
    result = source(solved, "more")
    assert result.startswith(
        "import functools\n\nLIMIT = 3\n\n\n@staticmethod\ndef twice(x):\n    return 3 * x\n\n\nclass Net:"
    )
    assert "functools.cache" not in result
    assert "forward" not in result


def test_a_class_with_some_of_the_methods_replaces_only_those(lab: Callable[..., Path], small: str) -> None:
    more = """
# %% nbgrader={"grade_id": "more", "solution": true}
class Net:
    def __init__(self):
        self.w = 1

    def forward(self, x):
        ### BEGIN SOLUTION
        return self.w * x
        ### END SOLUTION
"""
    notebook = nbformat.reads(build(lab(small + more)).source_notebook.decode(), as_version=4)
    patch = "SIGN = -1\n\n\nclass Net:\n    def forward(self, x):\n        return SIGN * x\n"
    put_answers(notebook, Variant(Path("a.py"), patch, ""))
    names: dict[str, Any] = {}
    exec(source(notebook, "more"), names)
    assert (names["Net"]().w, names["Net"]().forward(2)) == (1, -2)


def test_an_async_function_may_take_the_place_of_a_function(solved: nbformat.NotebookNode) -> None:
    put_answers(solved, Variant(Path("a.py"), "async def softmax(z):\n    return z\n", ""))
    assert source(solved, "softmax") == "async def softmax(z):\n    return z"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("", "a.py: nothing in it replaces a task"),
        ("def unknown(z):\n    return z\n", "a.py: nothing in it replaces a task"),
        ("softmax = 3\n", "a.py: nothing in it replaces a task"),
        ("def softmax(z):\n    return z\n\n\nx = 1\n", "a.py: code after the last answer"),
    ],
)
def test_an_answer_that_replaces_nothing_is_an_error(solved: nbformat.NotebookNode, code: str, error: str) -> None:
    with pytest.raises(SourceError) as caught:
        put_answers(solved, Variant(Path("a.py"), code, ""))
    assert str(caught.value).startswith(error)


def test_blanking_puts_the_stub_back_where_it_is_not_to_be_kept(solved: nbformat.NotebookNode) -> None:
    released = copy.deepcopy(solved)
    for cell in released.cells:
        cell.source = f"stub of {cell.id}"
    blank_out(solved, released, frozenset({"softmax"}))
    assert "exponentials" in source(solved, "softmax")
    assert source(solved, "more") == "stub of more"
    assert source(solved, "words") == "stub of words"
    assert source(solved, "setup").startswith("import numpy")
