"""What is known of an attempt before it is stored."""

from __future__ import annotations

import pytest

from autograder.grading.grade_one import Attempt
from autograder.model import CellScore
from autograder.submission.handin import Handin

FULL = "OSError: launch: Too many references: cannot splice"


@pytest.mark.parametrize(
    ("attempt", "hindered"),
    [
        ({"cells": [CellScore("lab", "f-check", 0.0, 2.0, ({"message": FULL, "passed": False},))]}, True),
        ({"cells": [CellScore("lab", "f-check", 0.0, 2.0, message=FULL)]}, True),
        ({"failure": f"the pre-warmed process failed twice: {FULL}"}, True),
        ({"cells": [CellScore("lab", "f-check", 0.0, 2.0, ({"message": "expected 2", "passed": False},))]}, False),
    ],
    ids=["case", "foreign", "sandbox", "wrong"],
)
def test_who_was_hindered_by_another_s_program_runs_again(attempt: dict[str, object], hindered: bool) -> None:
    assert Attempt(Handin("ada", {}, {}), **attempt).hindered == hindered  # type: ignore[arg-type]
