"""Every lab, by a module of this folder that prints what it found: some at each change, others before a release."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.release.build import find_labs

__all__ = ["found_by", "labs"]

ROOT = Path(__file__).parents[2]


def labs(*at_each_change: str) -> list[Any]:
    """Return all labs as parameters; only those whose names begin so are tested at each change."""
    return [
        pytest.param(lab, id=lab.name, marks=[] if lab.name.startswith(at_each_change) else [pytest.mark.thorough])
        for lab in find_labs(ROOT / "solutions")
    ]


def found_by(module: str, lab: Path, *options: str) -> Any:
    """Return what a module of this folder prints about a lab, as JSON in its last line."""
    command = [sys.executable, "-m", f"tests.labs.{module}", lab.name, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
