"""The prove command on a small course, whose lab has one hole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from autograder.cli import main
from autograder.proof import read_records

TASK = '''\
def largest(numbers):
    """Return the largest number, None of no numbers."""
    ### BEGIN SOLUTION
    best = None
    for number in numbers:
        if best is None or number > best:
            best = number
    return best
    ### END SOLUTION
'''
TEST = """\
assert largest([]) is None
assert largest([1]) == 1
assert largest([1.5, 3.25, 2.5]) == 3.25
"""
MISSING = """\
given = [-0.1, -3.0]
assert largest(given) == -0.1
assert given == [-0.1, -3.0]
"""
HOLE = ["@wrongly.changing('numbers')", "@wrongly.coarse('numbers')", "@wrongly.unsigned('numbers')"]


def _cell(source: str, grade_id: str, **options: object) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(source)
    about = {
        "grade_id": grade_id,
        "grade": False,
        "solution": False,
        "locked": True,
        "schema_version": 3,
        "task": False,
    }
    cell.metadata.nbgrader = about | options
    return cell


@pytest.fixture
def course(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a course of another's making, with this test."""

    def write(test: str) -> Path:
        folder = tmp_path / "source" / "ps1"
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
        notebook = nbformat.v4.new_notebook()
        notebook.cells = [
            nbformat.v4.new_markdown_cell("### The largest\n\nLeave the numbers as they are."),
            _cell(TASK, "largest", solution=True, locked=False),
            _cell(test, "test-largest", grade=True, points=2),
        ]
        nbformat.write(notebook, folder / "problem.ipynb")
        return tmp_path

    return write


def _prove(root: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["prove", "ps1", "--course", str(root), *options])


def _fates(result: Result) -> dict[str, str]:
    return {line["after"]: line["fate"] for line in map(json.loads, result.stdout.splitlines())}


def test_a_hole_is_found_shown_and_closed_by_a_case(course: Callable[[str], Path]) -> None:
    root = course(TEST)
    shown = _prove(root)
    assert shown.exit_code == 0, shown.output
    assert "    Leave the numbers as they are." in shown.stdout
    assert "+@wrongly.changing('numbers')\n def largest(numbers):" in shown.stdout
    fates = _fates(_prove(root, "--json"))
    assert [after for after in HOLE if fates[after] != "lived"] == []
    fates = _fates(_prove(course(TEST + MISSING), "--json"))
    assert [after for after in HOLE if fates[after] != "killed"] == []


DOUBLED = """\
def doubled(numbers):
    ### BEGIN SOLUTION
    return [2 * number for number in numbers]
    ### END SOLUTION
"""
SUMS = """\
from labkit import check
with check.case("kept"):
    first = doubled([1])
    doubled([2])
    check.equal(first, [2])
with check.case("sums"):
    early = doubled([1, 2])
    late = doubled([3, 4])
    check.equal([a + b for a, b in zip(early, late)], [8, 12])
check.score(2)
"""


def test_a_case_that_computes_with_an_earlier_copy_is_a_hole(
    course: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One list for all results: a notebook fails the sums, a grader that hands out copies does not."""
    monkeypatch.setitem(globals(), "TASK", DOUBLED)
    root, rule = course(SUMS), ("--rule", "result reused")
    assert _fates(_prove(root, *rule, "--json"))["@wrongly.one_list"] == "lived"
    said = "a notebook fails it, a grader that hands out copies does not: test-largest: sums"
    assert said in _prove(root, *rule).stdout
    asking = SUMS.replace("    late =", "    with check.unchanged(early=early):\n        late =")
    assert _fates(_prove(course(asking), *rule, "--json"))["@wrongly.one_list"] == "killed"


def test_what_is_read_of_those_that_are_found_is_printed_once_for_each_kind_and_case(
    course: Callable[[str], Path],
) -> None:
    shown = _prove(course(TEST + MISSING), "--messages").stdout
    assert "+@wrongly.changing('numbers')\n def largest(numbers):" in shown
    assert shown.count("=== largest: what the text says") == 1
    changes = [part.partition("\n\n")[::2] for part in shown.split("--- largest, largest: ")[1:]]
    kinds = {(kind, part.split("\n\n")[1]) for kind, part in changes}
    assert len(kinds) == len(changes) > 5
    assert all("Error" in told or "look at" in told for _, told in kinds)


def test_survivors_are_answered_by_entries_and_the_rate_is_recorded(course: Callable[[str], Path]) -> None:
    root = course(TEST + MISSING)
    asked = _prove(root, "--check", "--toml")
    assert asked.exit_code == 1
    assert "not answered\nhint: a case that it fails, a clearer text, or an entry" in asked.stderr
    listed = asked.stdout.replace('reason = ""', 'reason = "which of two equal numbers is returned is open"')
    path = root / "source/ps1/equivalent.toml"
    path.write_text(listed)
    answered = _prove(root, "--check", "--write")
    assert answered.exit_code == 0, answered.output
    assert "0 survivors; 100.0 % of those that are wrong are found" in answered.stdout
    [record] = read_records(root)
    assert record.whole.survivors == 0 < record.whole.equivalent
    path.write_text(listed.replace("number >= best", "number >> best"))
    stale = _prove(root)
    assert stale.exit_code == 1
    assert "there is no such mutant\nhint: the line has changed" in stale.stderr


def test_an_endless_mutant_ends_and_a_second_run_knows_what_the_first_has_found(
    course: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.proof.trials._LEAST_S", 0.5)
    root = course("assert largest(iter([1, 2])) == 2\n")
    path = root / "source/ps1/problem.ipynb"
    endless = "    numbers = list(numbers)\n    while numbers:\n        numbers.pop()\n    return 2\n"
    loop = TASK.partition("    best")[0] + endless
    path.write_text(path.read_text().replace(json.dumps(TASK)[1:-1], json.dumps(loop)[1:-1]))
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = loop
    nbformat.write(notebook, path)
    first = _prove(root, "--json")
    found = {line["after"]: line["by"] for line in map(json.loads, first.stdout.splitlines())}
    assert found["pass"] == "test-largest: its process ended, or its time was over: does every loop come to an end?"
    notes = root / ".autograder/proof/ps1.jsonl"
    written = notes.read_text()
    notes.write_text(written[:-10])  # stopped while it wrote
    assert _prove(root, "--json").stdout == first.stdout
    assert notes.read_text() != written[:-10]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--task", "smallest"), 1, "ps1: no task 'smallest'\nhint: known: largest"),
        (("--write", "--sample", "3"), 2, "leave out --task, --rule and --sample"),
        (("--rule", "ties"), 2, "ties: no such kind of change; there are: another function, argument dropped,"),
    ],
)
def test_what_cannot_be_done_is_said(
    course: Callable[[str], Path], options: tuple[str, ...], code: int, words: str
) -> None:
    result = _prove(course(TEST), *options)
    assert result.exit_code == code
    assert words in result.stderr


def test_a_solution_that_fails_its_test_is_an_error(course: Callable[[str], Path]) -> None:
    result = _prove(course("assert largest([1]) == 2\n"))
    assert result.exit_code == 1
    assert "does not earn full marks: test-largest: AssertionError" in result.stderr


def test_a_sample_is_always_the_same(course: Callable[[str], Path]) -> None:
    root = course(TEST)
    found = _prove(root, "--json", "--sample", "4").stdout
    assert len(found.splitlines()) == 4
    assert _prove(root, "--json", "--sample", "4", "--jobs", "2").stdout == found


def test_one_kind_of_change_is_tried_alone_and_the_entries_of_others_wait(course: Callable[[str], Path]) -> None:
    root = course(TEST)
    asked = _prove(root, "--toml").stdout.replace(
        'reason = ""', 'reason = "which of two equal numbers is returned is open"'
    )
    (root / "source/ps1/equivalent.toml").write_text(asked)
    found = _prove(root, "--json", "--rule", "changed in place", "--rule", "comparison boundary")
    assert found.exit_code == 0, found.output
    kinds = {json.loads(line)["rule"] for line in found.stdout.splitlines()}
    assert kinds == {"changed in place", "comparison boundary"}
