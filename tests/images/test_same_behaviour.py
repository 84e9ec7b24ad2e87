"""One script computes, releases and grades on this machine and in the instructor's container: nothing differs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.images.conftest import DOCKER, IDLE, ROOT, Container

pytestmark = pytest.mark.image

Start = Callable[..., Container]
SCRIPT = ROOT / "tests" / "images" / "same_behaviour.py"


def _here() -> dict[str, Any]:
    # A processor type that this machine's OpenBLAS was told to take would not be told to the container's.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(ROOT)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _there(container: Container) -> dict[str, Any]:
    command = [DOCKER, "exec", "--interactive", container.name, "python", "-", "/home/jovyan/course"]
    done = subprocess.run(command, input=SCRIPT.read_text(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_labs_compute_and_score_the_same_here_and_in_the_container(instructor_image: str, start: Start) -> None:
    container = start(instructor_image, "--network", "none", command=IDLE)
    there, here = _there(container), _here()
    print(f"sandbox here: {here.pop('sandbox')}, in the container: {there.pop('sandbox')}")
    assert there == here
    for lab in here["labs"].values():
        scores = {student: result["score"] for student, result in lab["graded"].items()}
        assert scores["blank"] == 0 and scores["right"] == scores["solved"] == 16
        assert all(score < 16 for student, score in scores.items() if student not in ("right", "solved"))
