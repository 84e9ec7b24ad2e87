"""What is known of an attempt before it is stored."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from autograder.errors import SandboxError
from autograder.grading.attempt import BUSY, SHARED, Attempt, used_up
from autograder.model import CellScore
from autograder.submission.handin import Handin

FULL = "OSError: launch: Too many references: cannot splice"
HUNG = "RankError: launch: rank 1 of 2 was still running after 20 s"
WRONG = "expected 2, got 3"


def of_case(message: str) -> dict[str, Any]:
    return {"cells": [CellScore("lab", "f-check", 0.0, 2.0, ({"message": message, "passed": False},))]}


@pytest.mark.parametrize(
    ("attempt", "load", "again"),
    [
        (of_case(FULL), 0.0, SHARED),
        ({"cells": [CellScore("lab", "f-check", 0.0, 2.0, message=FULL)]}, 0.0, SHARED),
        ({"failure": f"the pre-warmed process failed twice: {FULL}"}, 0.0, SHARED),
        (of_case(HUNG), 100.0, BUSY),
        (of_case(HUNG), 0.0, ""),
        ({"starved": True}, 100.0, BUSY),
        ({"starved": True}, 0.0, ""),
        (of_case("OSError: [Errno 28] No space left on device"), 0.0, SHARED),
        (of_case("RuntimeError: can't start new thread"), 0.0, SHARED),
        (of_case('RuntimeError: can\'t start new thread\nin f, line 2: run("x")'), 0.0, SHARED),
        (of_case(FULL) | {"forged": True}, 0.0, ""),
        (of_case(FULL) | {"tossed": True}, 0.0, ""),
        ({"hindered": True, "tossed": True}, 0.0, SHARED),
        (of_case(WRONG), 100.0, ""),
        ({"hindered": True}, 0.0, SHARED),
    ],
    ids=[
        "case",
        "foreign",
        "sandbox",
        "ranks",
        "ranks, idle",
        "clock",
        "clock, idle",
        "watches",
        "threads",
        "with quotes",
        "forged",
        "in the kernel",
        "the grader, beside a kernel",
        "wrong",
        "the grader",
    ],
)
def test_whom_others_were_in_the_way_of_is_run_once_more(
    attempt: dict[str, Any], load: float, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    made = Attempt(Handin("ada", {}, {}), **attempt)
    made.ended(1.0)
    assert (made.crowded, made.seconds) == (again, 1.0)


def test_an_error_may_come_of_one_that_says_what_is_used_up() -> None:
    assert used_up(OSError(errno.ENOSPC, "no space"))
    try:
        try:
            raise OSError(errno.EMFILE, "too many open files")
        except OSError as error:
            raise SandboxError("sandbox: cannot start") from error
    except SandboxError as error:
        assert used_up(error)
    assert not used_up(OSError(errno.ENOENT, "not there"))
    assert not used_up(ValueError("28"))
