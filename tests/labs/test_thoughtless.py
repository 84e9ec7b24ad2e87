"""No case of any lab passes for an answer without a thought: a constant, an argument handed back, an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.release.build import find_labs
from tests.extent import ALL

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

ROOT = Path(__file__).parents[2]


# The quick labs; how the others fare shows before a release.
_AT_EACH_CHANGE = ("00_", "01_", "08_")
_LABS = [
    pytest.param(lab, id=lab.name, marks=[] if lab.name.startswith(_AT_EACH_CHANGE) else [pytest.mark.thorough])
    for lab in find_labs(ROOT / "solutions")
]


@pytest.mark.parametrize("lab", _LABS)
def test_nothing_done_earns_nothing(lab: Path) -> None:
    """`make test-all` tries some fifty answers, `make test` four of them."""
    command = [sys.executable, "-m", "tests.labs.thoughtless", lab.name, *([] if ALL else ["--few"])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {}
