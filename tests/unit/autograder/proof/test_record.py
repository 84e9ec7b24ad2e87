"""Records of proofs: counts, the page that is made of them, and whether they are of the labs as they are."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.proof import (
    Mutant,
    Record,
    Trial,
    code_of,
    mutants_of,
    read_equivalent,
    read_records,
    source_hash,
    tasks_of,
)
from autograder.proof.equivalent import NAME
from autograder.proof.forms import REFUSED, Fairness, read_fairness, read_refused
from autograder.proof.record import Count, record_of
from autograder.release.build import to_notebook
from autograder.release.source import read_source

ROOT = Path(__file__).parents[4]
RECORDS = read_records(ROOT)
FAIRNESS = read_fairness(ROOT)
every_record = pytest.mark.parametrize("record", RECORDS, ids=[record.lab for record in RECORDS])


def _trial(after: str, fate: str, task: str = "a") -> Trial:
    return Trial(Mutant(task, "operator", "f", "return 1", after, ""), fate)


def test_a_record_counts_what_became_of_the_mutants(tmp_path: Path) -> None:
    trials = [_trial("x", "killed"), _trial("y", "lived"), _trial("z", "lived", "b"), _trial("w", "idle")]
    record = record_of("lab", "hash", trials, [("a", "f", "return 1", "y"), ("a", "f", "return 1", "x")])
    assert record.tasks == {"a": Count(2, 1, 1), "b": Count(1, 0, 0)}
    assert record.rules == {"operator": Count(3, 1, 1)}
    assert (record.whole.survivors, record.whole.rate, record.idle) == (1, 50.0, 1)
    assert Record.read(record.write(tmp_path)) == record


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("def f(x):\n    return g(x, 'one two')", True),
        ("def f(x):  # says why\n    return g(\n        x,\n        'one '\n        'two',\n    )", True),
        ('def f(x):\n    """Say why."""\n    return g(x, \'one two\')', True),
        ("# check of 2 points: f\ndef f(x): return g(x, 'one two')", True),
        ("def f(x): return g(x, 'one two', hint='look there')", True),
        ("def f(x): return g(x, 'one two', hint=y)", False),
        ("def f(x): return g(x, 'one two', name='y')", False),
        ("def f(x):\n    return g(x, 'one  two')", False),
        ("def f(x):\n    return g(x, 'one two', None)", False),
    ],
)
def test_a_record_outlives_another_layout_of_the_lab_and_nothing_else(text: str, same: bool) -> None:
    texts = ["def f(x): return g(x, 'one two')", text]
    first, second = (code_of(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one)])) for one in texts)
    assert (first == second) == same


def test_a_file_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "docs/proof/lab.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"lab": "lab"}')
    with pytest.raises(CourseError, match=r"lab\.json: not a record"):
        read_records(tmp_path)


@every_record
def test_a_record_is_of_the_lab_as_it_is_and_leaves_no_survivor(record: Record) -> None:
    folder = ROOT / "solutions" / record.lab
    notebook = to_notebook(read_source(folder))
    again = f"autograder prove {record.lab} --write, then make docs"
    assert record.source == source_hash(code_of(notebook), folder / NAME), again
    assert record.whole.survivors == 0
    assert record.whole.equivalent == len(read_equivalent(folder / NAME))
    if record.python == ".".join(platform.python_version_tuple()[:2]):
        mutants = [mutant for task in tasks_of(notebook) for mutant in mutants_of(task)]
        asked = sum(mutant.rule in record.asked for mutant in mutants)
        assert asked == record.whole.mutants + record.idle, again


@pytest.mark.parametrize("found", FAIRNESS, ids=[found.lab for found in FAIRNESS])
def test_no_form_of_a_right_result_is_refused_unless_the_text_says_so(found: Fairness) -> None:
    folder = ROOT / "solutions" / found.lab
    notebook = to_notebook(read_source(folder))
    again = f"autograder fair {found.lab} --write, then make docs"
    assert found.source == source_hash(code_of(notebook), folder / REFUSED), again
    tasks = {task.name: task for task in tasks_of(notebook)}
    assert (found.refused, found.said) == (0, len(read_refused(folder / REFUSED, tasks)))


def test_the_page_about_proofs_is_what_the_records_say() -> None:
    spec = importlib.util.spec_from_file_location("make_proof", ROOT / "docs/make_proof.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert (ROOT / "docs/proof.md").read_text(encoding="utf-8") == maker.render(RECORDS, FAIRNESS), "make docs"
