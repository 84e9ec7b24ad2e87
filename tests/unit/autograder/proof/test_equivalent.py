"""The list of equivalent mutants: what it must say, and when an entry is stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import SourceError
from autograder.proof import Mutant, Task, as_toml, check_living, mutants_of, read_equivalent

SOURCE = "def task(a):\n    ### BEGIN SOLUTION\n    return 'it''s' if a < 2 else a\n    ### END SOLUTION\n"
ENTRY = """\
[[equivalent]]
task = 'task'
function = 'task'
changes = [['return a < 2', 'return a <= 2']]
reason = "2 is never given"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "equivalent.toml"


def _mutant(after: str) -> Mutant:
    return Mutant("task", "rule", "task", "return a < 2", after, "")


def test_an_entry_gives_the_reason_for_each_change(path: Path) -> None:
    assert read_equivalent(path) == {}
    path.write_text(ENTRY)
    key = ("task", "task", "return a < 2", "return a <= 2")
    assert read_equivalent(path) == {key: "2 is never given"}
    check_living(path, {key}, [_mutant("return a <= 2")], {})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('reason = "2 is never given"\n', "", "reason is missing\nhint: say why no promise"),
        ("2 is never given", " ", "reason is empty"),
        ("2 is never given", "equivalent", "this is no reason: 'equivalent'"),
        ("task = 'task'\n", "", "task is missing"),
        ("reason", "because", "reason is missing"),
        ("[['return a < 2', 'return a <= 2']]", "['a', 'b']", "changes: not a list of pairs"),
        ("[[equivalent]]", "[equivalent]", "not a list of entries"),
        ("reason =", "why = 1\nreason =", "unknown key 'why'"),
    ],
)
def test_an_entry_that_does_not_say_everything_is_an_error(path: Path, old: str, new: str, message: str) -> None:
    assert old in ENTRY
    path.write_text(ENTRY.replace(old, new))
    with pytest.raises(SourceError) as caught:
        read_equivalent(path)
    assert message in str(caught.value)


def test_a_change_that_is_listed_twice_is_an_error(path: Path) -> None:
    path.write_text(ENTRY * 2)
    with pytest.raises(SourceError, match=r"entry 2 \(task, task\): listed twice"):
        read_equivalent(path)


def test_a_stale_entry_is_an_error(path: Path) -> None:
    path.write_text(ENTRY)
    listed = read_equivalent(path)
    with pytest.raises(SourceError, match="there is no such mutant"):
        check_living(path, listed, [_mutant("return a > 2")], {})
    with pytest.raises(SourceError, match="a check kills it"):
        check_living(path, listed, [_mutant("return a <= 2")], dict.fromkeys(listed, "killed"))


def test_what_is_printed_for_survivors_is_read_once_a_reason_is_given(path: Path) -> None:
    mutants = mutants_of(Task("task", SOURCE))
    path.write_text(as_toml(mutants))
    with pytest.raises(SourceError, match="reason is empty"):
        read_equivalent(path)
    path.write_text(as_toml(mutants).replace('reason = ""', 'reason = "nobody asks for it"'))
    assert set(read_equivalent(path)) == {mutant.key for mutant in mutants}
