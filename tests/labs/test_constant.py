"""No constant earns much: not even one of the results that the solution's own function returns in its checks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.release.build import find_labs

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

ROOT = Path(__file__).parents[2]
MOST = 0.4
"""Of a test's points: the worked example, and what follows where one thing is right."""
_FREE = "predictions-check"
"""Any guess in the right form is one."""
_AT_EACH_CHANGE = ("00_", "07_")
_LABS = [
    pytest.param(lab, id=lab.name, marks=[] if lab.name.startswith(_AT_EACH_CHANGE) else [pytest.mark.thorough])
    for lab in find_labs(ROOT / "solutions")
]


@pytest.mark.parametrize("lab", _LABS)
def test_a_constant_earns_less_than_half_of_a_task(lab: Path) -> None:
    command = [sys.executable, "-m", "tests.labs.constant", lab.name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found, "the worked example at least should pass"
    shares = {test: best[0] / best[1] for test, best in found.items() if test != _FREE}
    assert {test: share for test, share in shares.items() if share > MOST} == {}
