"""Attacks are attacks: where tests run in the student's own kernel, as in most graders, they gain points or see."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest

from autograder.course import open_course
from autograder.model import CellSpec
from tests.redteam.attacks import ATTACKS
from tests.redteam.naive import executed, naive_points, shown
from tests.redteam.oddities import ODDITIES
from tests.redteam.redlab import ALL, CANARY, HONEST, LAB, Attack, Oddity, notebook, red_course

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

_FORGING = [name for name, attack in ATTACKS.items() if attack.forges]
_SPYING = [name for name, attack in ATTACKS.items() if attack.spies]
_HONEST: dict[str, Attack | Oddity] = {"an honest student": Oddity(says=""), "the honest part": Attack(says="")}


@pytest.fixture(scope="session")
def naive(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, nbformat.NotebookNode], list[CellSpec]]:
    """Every such notebook, run by a naive grader, and what the cells are worth."""
    root = red_course(tmp_path_factory.mktemp("naive") / "course")
    rows = open_course(root).notebooks(LAB)[LAB]
    hands: dict[str, Attack | Oddity] = {name: ATTACKS[name] for name in dict.fromkeys([*_FORGING, *_SPYING])}
    hands |= _HONEST
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda hand: executed(notebook(root, hand), rows), hands.values())
        return dict(zip(hands, done, strict=True)), rows


@pytest.mark.parametrize("name", _FORGING)
def test_a_forging_attack_earns_points_in_a_naive_grader(
    name: str, naive: tuple[dict[str, nbformat.NotebookNode], list[CellSpec]]
) -> None:
    notebooks, rows = naive
    assert naive_points(notebooks[name], rows) > ATTACKS[name].honest


@pytest.mark.parametrize("name", _SPYING)
def test_a_spying_attack_sees_hidden_tests_in_a_naive_grader(
    name: str, naive: tuple[dict[str, nbformat.NotebookNode], list[CellSpec]]
) -> None:
    assert CANARY.search(shown(naive[0][name]))


def test_the_naive_grader_is_right_about_honest_students(
    naive: tuple[dict[str, nbformat.NotebookNode], list[CellSpec]],
) -> None:
    notebooks, rows = naive
    assert [naive_points(notebooks[name], rows) for name in _HONEST] == [ALL, HONEST]


def test_there_are_as_many_as_there_should_be_and_each_says_what_it_does() -> None:
    assert len(ATTACKS) >= 60 and len(ODDITIES) >= 30
    hands: list[Attack | Oddity] = [*ATTACKS.values(), *ODDITIES.values()]
    assert [hand.says for hand in hands if not (hand.says.endswith(".") and len(hand.says) > 10)] == []
