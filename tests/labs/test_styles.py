"""A lab's solution, written anew in styles of honest students, has full marks by the grader itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.by_module import found_by, labs

ROOT = Path(__file__).parents[2]
EACH = '''
import random
from tests.labs.styles import NAMES, rewritten

SOURCE = """
def f(x, y=2):
    x = x + y
    for i in range(3):
        y += i
    if y < 0:
        raise ValueError("no")
    return x

class A:
    def __init__(self, a):
        self.a = a
    def go(self, b):
        return self.a + b
"""
for name in NAMES:
    found = rewritten(SOURCE, random.Random(0), only=name)
    lines = [line for line in found.source.split("\\n") if not line.startswith(("%", "!"))]
    space = {"__name__": "__main__"}
    exec("\\n".join(lines), space)
    assert found.taken, name
    assert (space["f"](1), space["f"](1, y=5), space["A"](3).go(2)) == (3, 6, 5), name
'''


def test_a_way_leaves_what_is_returned(tmp_path: Path) -> None:
    """In a process of its own: what students set for theirs, a style of figures, the depth of calls, stays there."""
    program = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{EACH}"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("lab", labs("01", "02", "10", "12"))
def test_another_style_costs_nothing(lab: Path) -> None:
    assert found_by("styled", lab, "0", "1") == []
