"""No test hands a function of the student's what a hidden case expects of another: a later hand-in could hold it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.release.build import find_labs

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

ROOT = Path(__file__).parents[2]
_THERE_AND_BACK = {("08_deep_compression", "format-check")}
"""What was written is read back: the format is the student's own, and nothing else can be expected."""
_AT_EACH_CHANGE = ("13_", "14_")
_LABS = [
    pytest.param(lab, id=lab.name, marks=[] if lab.name.startswith(_AT_EACH_CHANGE) else [pytest.mark.thorough])
    for lab in find_labs(ROOT / "solutions")
]


@pytest.mark.parametrize("lab", _LABS)
def test_no_expected_value_is_handed_to_another_function(lab: Path) -> None:
    command = [sys.executable, "-m", "tests.labs.told", lab.name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    found = [one for one in json.loads(done.stdout.splitlines()[-1]) if (lab.name, one[0]) not in _THERE_AND_BACK]
    assert found == []
