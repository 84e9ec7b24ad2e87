"""A second look at the instructor's own solution takes nothing from it, and holds up nobody."""

from __future__ import annotations

import time
from pathlib import Path

from tests.system.foreign import Foreign, points

ANSWER = "def squares(xs):\n    ### BEGIN SOLUTION\n    return [x * x for x in xs]\n    ### END SOLUTION\n"
SOLVED = "def squares(xs): return [x * x for x in xs]"
ARRAYS = """
import numpy as np
def squares(xs): return xs ** 2 if isinstance(xs, np.ndarray) else [x * x for x in xs]
"""
WRITES = {
    "base": "import numpy as np\nx = np.arange(3.0)\nfirst = [1, 2]\nassert np.allclose(squares(x), x * x)",
    "outs": "outs = [squares([n]) for n in first]\nassert outs == [[1], [4]]",
    "adds": "assert len(squares(x)) == 3\nx += 1\nassert np.allclose(squares(x), [1, 4, 9])",
    "uses": "xs = [1, 2]\nfound = squares(xs)\nxs.append(0)\nassert [[n] for n in found] == outs",
    "table": "table = {1: 1}\n### BEGIN HIDDEN TESTS\ntable[12] = 144\n### END HIDDEN TESTS\nassert squares([1])",
    "hidden": "xs = [1, 12]\nfound = squares(xs)\nxs.append(0)\nassert found == [table[1], table[12]]",
}
SLOW = {name: f"assert squares([{n}]) == [{n * n}]" for name, n in (("a", 2), ("b", 3))}
SLEEPS = """
import time
def squares(xs):
    from autograder.boundary.student import _agents
    if _agents[0][1].mirror is not None:
        time.sleep(60)
    xs.append(0)
    return [x * x for x in xs[:-1]]
"""


def test_the_instructor_s_own_solution_loses_nothing(tmp_path: Path) -> None:
    course = Foreign(tmp_path, WRITES, answer=ANSWER)
    course.hand_in("honest", SOLVED)
    course.hand_in("arrays", ARRAYS)
    outcomes = course.grade()
    assert course.isolated() == set(WRITES)
    for student in ("honest", "arrays"):
        assert points(outcomes[student]) == dict.fromkeys(WRITES, 1.0)
        assert outcomes[student].result.messages == ()


def test_a_second_look_takes_a_few_times_as_long_as_the_first_run_at_most_and_says_so(tmp_path: Path) -> None:
    course = Foreign(tmp_path, SLOW, answer=ANSWER)
    course.hand_in("slow", SLEEPS)
    began = time.monotonic()
    outcome = course.grade()["slow"]
    assert time.monotonic() - began < 55  # seconds; about 20 here, and 90 for each test before
    assert points(outcome) == dict.fromkeys(SLOW, 1.0)
    assert any("took much longer there and was stopped" in message for message in outcome.result.messages)
    assert sum("which says nothing: look at it" in note for note in outcome.result.notes) == len(SLOW)


TEAM = """
class Team:
    def __init__(self, members):
        ### BEGIN SOLUTION
        self.members = list(members)
        ### END SOLUTION
    def join(self, who): self.members.append(who)
def drained(xs):
    xs = list(xs)
    while xs: yield xs.pop()
"""
KEPT = {
    "members": "names = ['Ann']\nteam = Team(names)\nteam.join('Bob')\nassert team.members == ['Ann', 'Bob']",
    "copied": "names = ['Ann']\nteam = Team(names)\nteam.join('Bob')\nassert names == ['Ann'], 'copy the list'",
    "generated": "data = [1, 2, 3]\nassert list(drained(data)) == [3, 2, 1]\nassert data == [1, 2, 3]",
    "handed": "numbers = [3, 2, 1]\nassert list(drained(numbers)) == [1, 2, 3]",
    "handed-before": "assert numbers == [3, 2, 1]",
    "begun": "names = ['Ann']\nteam = Team(names)\nassert team.members == ['Ann']",
    "joined-before": "team.join('Bob')\nassert names == ['Ann']",
    "looked-at": "assert names == ['Ann']",
}
COPIES = TEAM.replace("        ### BEGIN SOLUTION\n", "").replace("        ### END SOLUTION\n", "")
KEEPS = COPIES.replace("list(members)", "members").replace("    xs = list(xs)\n", "")


def test_what_an_object_keeps_and_changes_later_is_the_test_s_own(tmp_path: Path) -> None:
    course = Foreign(tmp_path, KEPT, answer=TEAM)
    course.hand_in("copies", COPIES)
    course.hand_in("keeps", KEEPS)
    outcomes = course.grade()
    assert course.isolated() == set(KEPT)
    assert points(outcomes["copies"]) == dict.fromkeys(KEPT, 1.0)
    lost = dict.fromkeys(("copied", "generated", "handed-before"), 0.0)
    assert points(outcomes["keeps"]) == dict.fromkeys(KEPT, 1.0) | lost
    for test in ("joined-before", "looked-at"):
        told = f"{test!r}: 1 of 1, and what a test above has handed over is changed by the student's code"
        assert any(told in note for note in outcomes["keeps"].result.notes)
    assert not [note for note in outcomes["copies"].result.notes if "look at it" in note]


SCORES = {
    "top": "assert top() == 3",
    "unchanged": "assert top() == 3\nassert scores == [3, 1, 2]",
    "grid": "assert lit() == 1\nassert grid.sum() == 1",
    "helped": "assert top() == 3\nassert fresh() == [3, 1, 2]",
    "counted": "log.append(1)\nbefore = len(log)\nnoted(5)\nassert len(log) == before + 1",
}
FINDS = """
def top():
    ### BEGIN SOLUTION
    return max(scores)
    ### END SOLUTION
def lit(): return int(grid.sum())
def noted(x): log.append(x)
"""
GIVEN = "import numpy as np\nscores = [3, 1, 2]\ngrid = np.array([0, 1, 0])\nlog = []\ndef fresh(): return scores[:]"
READS = FINDS.replace("    ### BEGIN SOLUTION\n", "").replace("    ### END SOLUTION\n", "")
SORTS = READS.replace("    return max(scores)", "    scores.sort()\n    return scores[-1]").replace(
    "def lit(): return int(grid.sum())", "def lit():\n    grid[:] = grid[::-1] * 1 + 1\n    return 1"
)


def test_whoever_changes_data_of_a_locked_cell_that_the_instructor_leaves_is_looked_at(tmp_path: Path) -> None:
    course = Foreign(tmp_path, SCORES, answer=FINDS, locked=GIVEN)
    course.hand_in("reads", READS)
    course.hand_in("sorts", SORTS)
    outcomes = course.grade()
    assert points(outcomes["reads"]) == dict.fromkeys(SCORES, 1.0)
    assert not [note for note in outcomes["reads"].result.notes if "look at it" in note]
    notes = [note for note in outcomes["sorts"].result.notes if "look at it" in note]
    for test, name in (("unchanged", "scores"), ("helped", "scores"), ("grid", "grid")):
        told = f"{name} of a locked cell is changed by the student's code, and not by yours"
        assert points(outcomes["sorts"])[test] == 0 or any(repr(test) in note and told in note for note in notes)
