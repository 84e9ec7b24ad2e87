"""Answers written as differences from the solution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import SourceError
from autograder.release.answers import find_variants, read_variant
from autograder.release.build import find_labs
from autograder.release.differences import changed_lines, definition, read_differences
from autograder.release.source import SourceCell, read_source
from tests.labs.as_differences import as_difference, as_toml

ROOT = Path(__file__).parents[4]
CELLS = [
    '''
import math


def root(x: float) -> float:
    """Return the root of x.

    Of none below 0.
    """
    ### BEGIN SOLUTION
    if x < 0:
        x = 0.0  # nothing below
    elif x > 1e9:
        x = 1e9
    else:
        x = x + 0
    y = math.sqrt(x)
    y = y + 0
    return y
    ### END SOLUTION
''',
    '''
class Bag:
    """A bag."""

    def __init__(self):
        ### BEGIN SOLUTION
        self.items = []
        ### END SOLUTION

    def add(self, item):
        ### BEGIN SOLUTION
        self.items.append(item)
        return self
        ### END SOLUTION

    def counts(self):
        ### BEGIN SOLUTION
        some = all = 0
        for item in self.items:
            some += 1
        for item in self.items:
            all += item
            some += 1
        return some, all
        ### END SOLUTION
''',
]


def write(folder: Path, text: str, name: str = "root.toml") -> Path:
    path = folder / "wrong" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def entry(*changes: tuple[str, str], of: str = "root") -> str:
    pairs = ", ".join(f"['''{before}''', '''{after}''']" for before, after in changes)
    return f'[a]\nabout = "Fails root-check: is wrong."\nof = "{of}"\nchanges = [{pairs}]\n'


def test_a_difference_is_put_into_the_solution(tmp_path: Path) -> None:
    path = write(tmp_path, entry(("y = math.sqrt(x)", "y = x\ny = y / 2"), ("return y", "return -y")))
    ((name, about, code),) = read_differences(path, CELLS)
    assert (name, about) == ("a", "Fails root-check: is wrong.")
    assert code.startswith("def root(x: float) -> float:\n")
    assert code.endswith("    y = x\n    y = y / 2\n    y = y + 0\n    return -y\n")
    assert "SOLUTION" not in code


def test_a_method_stands_in_a_class_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, entry(("return self", ""), of="Bag.add"))
    ((_, _, code),) = read_differences(path, CELLS)
    assert code == "class Bag:\n    def add(self, item):\n        self.items.append(item)\n"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("x = 1", "x = 2", ["def f():", "    x = 2", "    if x:", "        y = 3", "        z = 4"]),
        ("if x:\n    y = 3", "y = 5", ["def f():", "    x = 1", "    y = 5", "        z = 4"]),
        ("y = 3\nz = 4", "", ["def f():", "    x = 1", "    if x:"]),
        ("y = 3\n\nz = 4", "", None),
        ("w = 3", "", None),
    ],
)
def test_lines_are_changed_where_they_stand_once(before: str, after: str, found: list[str] | None) -> None:
    lines = ["def f():", "    x = 1", "    if x:", "        y = 3", "        z = 4"]
    assert changed_lines(lines, before, after) == found


def test_lines_that_stand_twice_are_not_changed() -> None:
    assert changed_lines(["a", "b", "    a"], "a", "c") is None


def test_a_definition_is_found_by_its_name() -> None:
    assert definition(CELLS, "Bag.add") == [
        "    def add(self, item):",
        "        self.items.append(item)",
        "        return self",
    ]
    assert definition(CELLS, "Bag.none") is None
    assert definition(CELLS, "root.x") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[a", "Expected ']'"),
        ("a = 1\n", "[a]: not a table"),
        ("[a]\nof = 'root'\nchanges = [['return y', '']]\n", "[a]: about is missing"),
        (entry(("return y", "")) + "what = 1\n", "[a]: unknown key 'what'"),
        (entry(("return y", ""), of=""), "[a]: of is empty"),
        (entry(), "[a]: changes: not a list of pairs"),
        (entry(("", "return y")), "[a]: changes: not a list of pairs"),
        (entry(("return y", ""), of="roots"), "[a]: no solution cell defines roots"),
        (entry(("return z", "")), "[a]: these lines do not stand once in root:\nreturn z"),
    ],
)
def test_an_entry_that_fits_nothing_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        list(read_differences(write(tmp_path, text), CELLS))
    assert says in str(caught.value)
    assert "root.toml" in str(caught.value)


def test_answers_of_both_kinds_are_found_by_name(lab: Callable[..., Path], small: str) -> None:
    folder = lab(small)
    (cell,) = [cell for cell in read_source(folder).cells if cell.solution and cell.cell_type == "code"]
    name = cell.source.split("def ")[1].split("(")[0]
    last = cell.source.split("\n")[cell.blocks[0].end - 1].strip()
    about = 'about = "Fails a-check: is wrong."'
    write(folder, f"[b]\n{about}\nof = \"{name}\"\nchanges = [['''{last}''', \"return None\"]]\n")
    write(folder, f'"""Fails c-check: nothing."""\ndef {name}():\n    pass\n', "a.py")
    assert [(v.name, v.fails, v.reason) for v in find_variants(folder, "wrong")] == [
        ("a", ("c-check",), "nothing."),
        ("b", ("a-check",), "is wrong."),
    ]
    write(folder, f'"""Fails c-check: nothing."""\ndef {name}():\n    pass\n', "b.py")
    with pytest.raises(SourceError, match="both have b"):
        find_variants(folder, "wrong")


# -------------------------------------------------------------------------------- whole answers, written as differences


def difference(tmp_path: Path, code: str) -> list[tuple[str, str]] | None:
    """Return the changes that a whole answer is written as; what comes of them is what it was."""
    path = write(tmp_path, f'"""Fails root-check: is wrong."""\n{code}', "a.py")
    cells = [SourceCell("code", source, 1, grade_id=f"task{n}") for n, source in enumerate(CELLS)]
    written = as_difference(read_variant(path, wrong=True), cells)
    if written is None:
        return None
    text = as_toml(read_variant(path, wrong=True), written)
    ((name, about, _),) = read_differences(write(tmp_path, text), CELLS)
    assert (name, about) == ("a", "Fails root-check: is wrong.")
    return written.changes


ROOT_WITH = """def root(x):
    if x < 0:
        x = 0.0
    elif x > 1e9:
        x = 1e9
    else:
        x = x + {zero}
    y = {y}
    y = y + {zero}
    return {result}
"""


def test_a_whole_answer_becomes_the_lines_that_differ(tmp_path: Path) -> None:
    changed = ROOT_WITH.format(zero=0, y="x", result="y")
    assert difference(tmp_path, changed) == [("y = math.sqrt(x)", "y = x")]


def test_lines_that_stand_twice_take_what_is_around_them_along(tmp_path: Path) -> None:
    counts = """class Bag:
    def counts(self):
        some = all = 0
        for item in self.items:
            some += 1
        for item in self.items:
            all += item
            some += 2
        return some, all
"""
    assert difference(tmp_path, counts) == [("all += item\nsome += 1", "all += item\nsome += 2")]


def test_lines_are_left_out(tmp_path: Path) -> None:
    code = "class Bag:\n    def add(self, item):\n        return self\n"
    assert difference(tmp_path, code) == [("self.items.append(item)", "")]


def test_what_changes_much_or_defines_more_stays_whole(tmp_path: Path) -> None:
    assert difference(tmp_path, "def root(x):\n    return x ** 0.5\n") is None
    assert difference(tmp_path, "def other():\n    pass\n\n\n" + ROOT_WITH.format(zero=0, y="x", result="y")) is None
    assert difference(tmp_path, "def other():\n    pass\n") is None


@pytest.mark.parametrize("folder", find_labs(ROOT / "solutions"), ids=lambda folder: folder.name)
def test_no_answer_that_is_nearly_the_solution_is_written_whole(folder: Path) -> None:
    cells = [cell for cell in read_source(folder).cells if cell.solution and cell.cell_type == "code"]
    whole = [variant for variant in find_variants(folder, "wrong") if not variant.entry]
    again = f"python -m tests.labs.as_differences {folder.name}"
    assert [variant.name for variant in whole if as_difference(variant, cells)] == [], again
