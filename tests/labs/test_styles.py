"""A lab's solution, written anew in styles of honest students, has full marks by the grader itself."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.labs.by_module import found_by, labs
from tests.labs.styles import NAMES, rewritten

SOURCE = '''
def f(x, y=2):
    """Doc."""
    x = x + y
    for i in range(3):
        y += i
    if y < 0:
        raise ValueError("no")
    return x

class A:
    """Doc."""
    def __init__(self, a):
        self.a = a
    def go(self, b):
        return self.a + b
'''


@pytest.mark.parametrize("name", NAMES)
def test_a_way_leaves_what_is_returned(name: str) -> None:
    found = rewritten(SOURCE, random.Random(0), only=name)
    assert found.taken
    lines = [line for line in found.source.split("\n") if not line.startswith(("%", "!"))]
    space: dict[str, Any] = {"__name__": "__main__"}
    exec("\n".join(lines), space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (space["f"](1), space["f"](1, y=5), space["A"](3).go(2)) == (3, 6, 5)


@pytest.mark.slow
@pytest.mark.parametrize("lab", labs("01", "02", "10", "12"))
def test_another_style_costs_nothing(lab: Path) -> None:
    assert found_by("styled", lab, "0", "1") == []
